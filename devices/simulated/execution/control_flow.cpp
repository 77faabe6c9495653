// Branches, exits and the barrier of a block (PTX ISA 9.0, 9.7.12, 9.7.13): the interpreter itself carries them out.

#include "devices/simulated/execution/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

void emit_kind(InstructionDecoder& decoder, OperationKind kind, int target = 0) {
  Operation operation;
  operation.kind = kind;
  operation.target = target;
  decoder.emit(operation);
}

void decode_barrier(InstructionDecoder& decoder) {
  const auto& operands = decoder.instruction().operands;
  if (operands.size() != 1 || operands[0].kind != ptx::OperandKind::immediate || operands[0].bits != 0) {
    decoder.fail("only barrier 0 of all threads of the block is supported");
  }
  emit_kind(decoder, OperationKind::barrier);
}

}  // namespace

bool decode_control_flow(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  if (opcode == "bra" || opcode == "bra.uni") {
    emit_kind(decoder, OperationKind::branch, decoder.instruction().operands.at(0).index);
  } else if (opcode == "ret" || opcode == "ret.uni" || opcode == "exit") {
    emit_kind(decoder, OperationKind::exit);
  } else if (opcode == "bar.sync" || opcode == "barrier.sync" || opcode == "barrier.sync.aligned") {
    decode_barrier(decoder);
  } else {
    return false;
  }
  return true;
}

}  // namespace convladder::simulated
