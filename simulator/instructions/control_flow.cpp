// Branches, returns, exits and traps (PTX ISA 9.0, 9.7.13, 9.7.19), which the interpreter itself carries out, and hints
// to the hardware.

#include <algorithm>
#include <string_view>
#include <vector>

#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

void emit_kind(InstructionDecoder& decoder, OperationKind kind, int target = 0, int detail = 0) {
  Operation operation;
  operation.detail = detail;
  operation.kind = kind;
  operation.target = target;
  decoder.emit(operation);
}

/// Decodes a branch through a table; its labels become operations when all instructions have been decoded.
void decode_table_branch(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  std::vector<int> table;
  for (const ptx::Operand& label : instruction.operands.at(1).elements) table.push_back(label.index);
  Operation operation;
  operation.kind = OperationKind::table_branch;
  operation.operands[0] = decoder.read(instruction.operands[0], 32);
  operation.detail = static_cast<int>(decoder.program().branch_tables.size());
  decoder.program().branch_tables.push_back(std::move(table));
  decoder.emit(operation);
}

/// An instruction that informs the hardware and changes no value: registers that a warp gives back or asks for, the
/// order of launches, events of a profiler (PTX ISA 9.0, 9.7.13.13 griddepcontrol, 9.7.19.5 setmaxnreg, 9.7.19.3
/// pmevent). Here a launch begins when the one before has ended, and registers cost nothing.
struct Hint {
  std::string_view opcode;
  std::size_t operands;
};
constexpr Hint kHints[] = {
    {"griddepcontrol.launch_dependents", 0},
    {"griddepcontrol.wait", 0},
    {"setmaxnreg.inc.sync.aligned.u32", 1},
    {"setmaxnreg.dec.sync.aligned.u32", 1},
    {"pmevent", 1},
    {"pmevent.mask", 1},
};

void change_nothing(WarpState& /*warp*/, const Operation& /*operation*/) {}

}  // namespace

bool decode_control_flow(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  if (opcode == "bra" || opcode == "bra.uni") {
    emit_kind(decoder, OperationKind::branch, decoder.instruction().operands.at(0).index);
  } else if (opcode == "brx.idx" || opcode == "brx.idx.uni") {
    decode_table_branch(decoder);
  } else if ((opcode == "ret" || opcode == "ret.uni") && decoder.in_function()) {
    emit_kind(decoder, OperationKind::return_);
  } else if (opcode == "ret" || opcode == "ret.uni" || opcode == "exit") {
    emit_kind(decoder, OperationKind::exit);
  } else if (opcode == "trap" || opcode == "brkpt") {  // there is no debugger for a breakpoint
    emit_kind(decoder, OperationKind::trap, 0, Operation::kNoAssertion);
  } else {
    return false;
  }
  return true;
}

bool decode_hint(InstructionDecoder& decoder) {
  const auto* const hint = std::ranges::find(kHints, decoder.instruction().opcode, &Hint::opcode);
  if (hint == std::end(kHints)) return false;
  decoder.expect_operands(hint->operands);
  decoder.emit(change_nothing, {});
  return true;
}

}  // namespace convladder::simulated
