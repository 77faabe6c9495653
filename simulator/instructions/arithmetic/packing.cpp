// Registers packed into a wider one and unpacked again (PTX ISA 9.0, 9.7.9: mov with a vector operand).

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "simulator/instructions/forms.hpp"
#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

using ptx::OperandKind;

/// mov d, {a, b, ...}: the first element becomes the lowest bits. Elements are in slots of 32 bits.
template <typename Wide, int kElements, int kBits>
void pack(WarpState& warp, const Operation& operation) {
  std::array<const std::uint32_t*, kElements> elements;
  for (int i = 0; i < kElements; ++i) elements[i] = warp.read<std::uint32_t>(operation.operands[1 + i]);
  write_lanes(warp.write<Wide>(operation.operands[0]), warp.mask, [&](int lane) {
    Wide value = 0;
    for (int i = 0; i < kElements; ++i) {
      value |= static_cast<Wide>(elements[i][lane] & (~std::uint32_t{0} >> (32 - kBits))) << (kBits * i);
    }
    return value;
  });
}

template <typename Wide, int kElements, int kBits>
void unpack(WarpState& warp, const Operation& operation) {
  const auto* from = warp.read<Wide>(operation.operands[kElements]);
  std::array<Wide, kLanes> values;  // a copy: an element's register may be the one that is unpacked
  std::copy(from, from + kLanes, values.begin());
  for (int i = 0; i < kElements; ++i) {
    write_lanes(warp.write<std::uint32_t>(operation.operands[i]), warp.mask, [&](int lane) {
      return static_cast<std::uint32_t>(values[lane] >> (kBits * i)) & (~std::uint32_t{0} >> (32 - kBits));
    });
  }
}

struct Packing {
  int bits;  // width of the wide register
  std::size_t elements;
  Handler pack;
  Handler unpack;
};
constexpr Packing kPackings[] = {
    {64, 2, &pack<std::uint64_t, 2, 32>, &unpack<std::uint64_t, 2, 32>},
    {64, 4, &pack<std::uint64_t, 4, 16>, &unpack<std::uint64_t, 4, 16>},
    {32, 2, &pack<std::uint32_t, 2, 16>, &unpack<std::uint32_t, 2, 16>},
    {32, 4, &pack<std::uint32_t, 4, 8>, &unpack<std::uint32_t, 4, 8>},
    {16, 2, &pack<std::uint32_t, 2, 8>, &unpack<std::uint32_t, 2, 8>},
};

/// mov.b128: a register of 128 bits from two of 64, two from one, or one from one.
bool decode_move_of_128_bits(InstructionDecoder& decoder) {
  const auto& operands = decoder.instruction().operands;
  if (decoder.instruction().opcode != "mov.b128") return false;
  decoder.expect_operands(2);
  const auto halves = [&](const ptx::Operand& operand, bool writes) -> std::array<Slot, 2> {
    if (operand.kind != OperandKind::vector) {
      return writes ? decoder.write_128_bits(operand) : decoder.read_128_bits(operand);
    }
    if (operand.elements.size() != 2) decoder.fail("a vector of two elements is expected");
    const auto half = [&](std::size_t i) {
      return writes ? decoder.write(operand.elements[i], 64) : decoder.read(operand.elements[i], 64);
    };
    return {half(0), half(1)};
  };
  const std::array<Slot, 2> from = halves(operands[1], false);
  const std::array<Slot, 2> to = halves(operands[0], true);
  const Handler move = forms().find("mov.b64")->handler;
  for (std::size_t i = 0; i < 2; ++i) decoder.emit(move, {to[i], from[i]});
  return true;
}

/// mov.v4.u32 {a, b, c, d}, {e, f, g, h}: one move for each element. Written registers may be read as well.
bool decode_move_of_vectors(InstructionDecoder& decoder) {
  const std::vector<std::string_view> parts = ptx::split_opcode(decoder.instruction().opcode);
  if (parts.size() != 3 || parts[0] != "mov" || (parts[1] != "v2" && parts[1] != "v4")) return false;
  const Form* const move = forms().find(fmt::format("mov.{}", parts[2]));
  if (move == nullptr) return false;
  decoder.expect_operands(2);
  const auto& operands = decoder.instruction().operands;
  const auto count = static_cast<std::size_t>(parts[1][1] - '0');
  if (operands[0].elements.size() != count || operands[1].elements.size() != count) {
    decoder.fail(fmt::format("vectors of {} elements are expected", count));
  }
  const int bits = move->operands[0] == OperandUse::write_64 ? 64 : 32;
  std::vector<Slot> copies;
  for (const ptx::Operand& element : operands[1].elements) {
    copies.push_back(decoder.temporary(bits));
    decoder.emit(move->handler, {copies.back(), decoder.read(element, bits)});
  }
  for (std::size_t i = 0; i < count; ++i) {
    decoder.emit(move->handler, {decoder.write(operands[0].elements[i], bits), copies[i]});
  }
  return true;
}

}  // namespace

bool decode_packing(InstructionDecoder& decoder) {
  if (decode_move_of_128_bits(decoder) || decode_move_of_vectors(decoder)) return true;
  const ptx::Instruction& instruction = decoder.instruction();
  const int bits = instruction.opcode == "mov.b64"   ? 64
                   : instruction.opcode == "mov.b32" ? 32
                   : instruction.opcode == "mov.b16" ? 16
                                                     : 0;
  const int slot_bits = std::max(bits, 32);
  if (bits == 0 || instruction.operands.size() != 2) return false;
  const bool packs = instruction.operands[1].kind == OperandKind::vector;
  if (!packs && instruction.operands[0].kind != OperandKind::vector) return false;
  const auto& elements = instruction.operands[packs ? 1 : 0].elements;
  const auto packing = std::ranges::find_if(kPackings, [&](const Packing& candidate) {
    return candidate.bits == bits && candidate.elements == elements.size();
  });
  if (packing == std::end(kPackings)) decoder.fail("a vector of two or four elements is expected");
  Operation operation;
  Slot* slot = operation.operands;
  if (packs) {
    operation.handler = packing->pack;
    *slot++ = decoder.write(instruction.operands[0], slot_bits);
    for (const ptx::Operand& element : elements) *slot++ = decoder.read(element, 32);
  } else {
    operation.handler = packing->unpack;
    for (const ptx::Operand& element : elements) *slot++ = decoder.write(element, 32);
    *slot++ = decoder.read(instruction.operands[1], slot_bits);
  }
  decoder.emit(operation);
  return true;
}

}  // namespace convladder::simulated
