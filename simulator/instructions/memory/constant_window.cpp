// isspacep.const (PTX ISA 9.0, 9.7.9.19). Constants are in global memory here, each variable on its own: a generic
// address is a constant's if it is in a variable of the module.

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

/// Operands: predicate, address. The list has the first and the last address of `detail` variables.
void is_constant(WarpState& warp, const Operation& operation) {
  const Slot* const bounds = warp.block->program->operand_lists.data() + operation.list;
  const auto* const addresses = warp.read<std::uint64_t>(operation.operands[1]);
  LaneMask inside = 0;
  for (int i = 0; i < operation.detail; ++i) {
    const std::uint64_t first = *warp.read<std::uint64_t>(bounds[2 * i]);
    const std::uint64_t last = *warp.read<std::uint64_t>(bounds[2 * i + 1]);
    for (int lane = 0; lane < kLanes; ++lane) {
      inside |= LaneMask{addresses[lane] >= first && addresses[lane] <= last} << lane;
    }
  }
  write_predicate(warp.write<LaneMask>(operation.operands[0]), warp.mask, inside);
}

}  // namespace

bool decode_constant_test(InstructionDecoder& decoder) {
  if (decoder.instruction().opcode != "isspacep.const") return false;
  decoder.expect_operands(2);
  const auto& operands = decoder.instruction().operands;
  std::vector<Slot> bounds;
  for (const ptx::Symbol& symbol : decoder.module().symbols) {
    if (symbol.space != ptx::Space::constant || symbol.bytes == 0) continue;
    const std::uint64_t first = decoder.place_of(symbol.name);
    bounds.push_back(decoder.constant(first, 64));
    bounds.push_back(decoder.constant(first + symbol.bytes - 1, 64));
  }
  Operation operation;
  operation.handler = is_constant;
  operation.detail = static_cast<int>(bounds.size() / 2);
  operation.list = decoder.keep_operands(bounds);
  operation.operands[1] = decoder.read(operands[1], 64);
  operation.operands[0] = decoder.write(operands[0], 1);
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated
