// Registers packed into a wider one and unpacked again (PTX ISA 9.0, 9.7.9: mov with a vector operand).

#include <algorithm>
#include <array>

#include "devices/simulated/execution/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

using ptx::OperandKind;

/// mov.b64 d, {low, high}, and back.
void pack_64(WarpState& warp, const Operation& operation) {
  const auto* low = warp.read<std::uint32_t>(operation.operands[1]);
  const auto* high = warp.read<std::uint32_t>(operation.operands[2]);
  write_lanes(warp.write<std::uint64_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return low[lane] | (std::uint64_t{high[lane]} << 32); });
}
void unpack_64(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<std::uint64_t>(operation.operands[2]);
  std::array<std::uint64_t, kLanes> value;
  std::copy(from, from + kLanes, value.begin());
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [&](int lane) { return static_cast<std::uint32_t>(value[lane]); });
  write_lanes(warp.write<std::uint32_t>(operation.operands[1]), warp.mask,
              [&](int lane) { return static_cast<std::uint32_t>(value[lane] >> 32); });
}

}  // namespace

bool decode_packing(InstructionDecoder& decoder) {
  const ptx::Instruction& instruction = decoder.instruction();
  if (instruction.opcode != "mov.b64" || instruction.operands.size() != 2) return false;
  const bool packs = instruction.operands[1].kind == OperandKind::vector;
  if (!packs && instruction.operands[0].kind != OperandKind::vector) return false;
  const auto& elements = instruction.operands[packs ? 1 : 0].elements;
  if (elements.size() != 2) decoder.fail("a vector of two 32-bit elements is expected");
  if (packs) {
    const Slot low = decoder.read(elements[0], 32);
    const Slot high = decoder.read(elements[1], 32);
    decoder.emit(pack_64, {decoder.write(instruction.operands[0], 64), low, high});
  } else {
    const Slot source = decoder.read(instruction.operands[1], 64);
    const Slot low = decoder.write(elements[0], 32);
    decoder.emit(unpack_64, {low, decoder.write(elements[1], 32), source});
  }
  return true;
}

}  // namespace convladder::simulated
