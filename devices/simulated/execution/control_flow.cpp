// Branches, exits and traps (PTX ISA 9.0, 9.7.13, 9.7.19): the interpreter itself carries them out.

#include "devices/simulated/execution/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

void emit_kind(InstructionDecoder& decoder, OperationKind kind, int target = 0) {
  Operation operation;
  operation.kind = kind;
  operation.target = target;
  decoder.emit(operation);
}

}  // namespace

bool decode_control_flow(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  if (opcode == "bra" || opcode == "bra.uni") {
    emit_kind(decoder, OperationKind::branch, decoder.instruction().operands.at(0).index);
  } else if (opcode == "ret" || opcode == "ret.uni" || opcode == "exit") {
    emit_kind(decoder, OperationKind::exit);
  } else if (opcode == "trap") {
    emit_kind(decoder, OperationKind::trap);
  } else {
    return false;
  }
  return true;
}

}  // namespace convladder::simulated
