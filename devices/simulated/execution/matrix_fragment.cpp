#include "devices/simulated/execution/matrix_fragment.hpp"

#include <fmt/format.h>

#include <bit>

#include "devices/simulated/execution/warp_members.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

float element_value(ElementType type, std::uint32_t bits) {
  switch (type) {
    case ElementType::f16:
      return to_float(Half{static_cast<std::uint16_t>(bits)});
    case ElementType::bf16:
      return to_float(Bfloat16{static_cast<std::uint16_t>(bits)});
    case ElementType::tf32:  // the lower 13 bits of the fraction do not count
      return std::bit_cast<float>(bits & 0xffffe000U);
    default:
      return std::bit_cast<float>(bits);
  }
}

std::uint32_t element_bits_of(ElementType type, float value) {
  if (type == ElementType::f16) return round_to<Half>(value).bits;
  if (type == ElementType::bf16) return round_to<Bfloat16>(value).bits;
  return value != value ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value);
}

}  // namespace

Fragment::Fragment(MatrixRole role, ElementType type, int rows, int columns, int registers)
    : role_(role),
      type_(type),
      rows_(rows),
      columns_(columns),
      registers_(registers),
      pairs_(role == MatrixRole::accumulator || element_bits(type) == 16) {
  const int inner = pairs_ ? 8 : 4;  // of a block, in the direction that four lanes share
  const bool right = role == MatrixRole::right;
  const int blocks_down = right ? rows / inner : rows / 8;
  for (int element = 0; element < elements(); ++element) {
    const int distinct = element % distinct_elements();
    const int block = pairs_ ? distinct / 2 : distinct;
    for (int lane = 0; lane < kLanes; ++lane) {
      const int g = lane / 4;
      const int t = pairs_ ? 2 * (lane % 4) + distinct % 2 : lane % 4;
      const int row = right ? inner * (block % blocks_down) + t : 8 * (block % blocks_down) + g;
      const int column = right ? 8 * (block / blocks_down) + g : inner * (block / blocks_down) + t;
      indices_.push_back(static_cast<std::uint16_t>(row * columns + column));
    }
  }
}

void Fragment::gather(const WarpState& warp, const Slot* registers, float* matrix) const {
  const bool packed = element_bits(type_) == 16;
  for (int element = 0; element < distinct_elements(); ++element) {
    const auto* const lanes = warp.read<std::uint32_t>(registers[packed ? element / 2 : element]);
    const int shift = packed ? 16 * (element % 2) : 0;
    for (int lane = 0; lane < kLanes; ++lane) matrix[index(lane, element)] = element_value(type_, lanes[lane] >> shift);
  }
}

void Fragment::scatter(const WarpState& warp, const Slot* registers, const float* matrix) const {
  const bool packed = element_bits(type_) == 16;
  for (int i = 0; i < registers_; ++i) {
    write_lanes(warp.write<std::uint32_t>(registers[i]), warp.mask, [&](int lane) {
      if (!packed) return element_bits_of(type_, matrix[index(lane, i)]);
      return element_bits_of(type_, matrix[index(lane, 2 * i)]) |
             (element_bits_of(type_, matrix[index(lane, 2 * i + 1)]) << 16);
    });
  }
}

void check_all_lanes(const WarpState& warp, const Operation& operation) {
  if (warp.mask == kAllLanes) return;
  warp.block->fault(warp, operation, Checker::synchronization, kNotAllLanes, warp.mask, [&](int lane) {
    return warp.block->finding_at(warp, operation, lane, Checker::synchronization,
                                  fmt::format("all 32 threads of a warp must execute this together, but {} do not",
                                              kLanes - std::popcount(warp.mask)));
  });
}

}  // namespace convladder::simulated
