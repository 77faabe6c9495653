// Branches, returns, exits and traps (PTX ISA 9.0, 9.7.13, 9.7.19), which the interpreter itself carries out.

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

}  // namespace convladder::simulated
