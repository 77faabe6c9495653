#include "simulator/instructions/matrix/matrix_fragment.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "simulator/instructions/warp_members.hpp"
#include "support/half.hpp"
#include "support/narrow_float.hpp"

namespace convladder::simulated {
namespace {

struct TypeFacts {
  const char* name;
  int bits;
};
constexpr std::array<TypeFacts, 13> kTypes{{{"f16", 16},
                                            {"bf16", 16},
                                            {"tf32", 32},
                                            {"f32", 32},
                                            {"f64", 64},
                                            {"s32", 32},
                                            {"s8", 8},
                                            {"u8", 8},
                                            {"s4", 4},
                                            {"u4", 4},
                                            {"b1", 1},
                                            {"e4m3", 8},
                                            {"e5m2", 8}}};
const TypeFacts& facts(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

/// The number of adjacent elements that a lane holds.
int run_of(MatrixRole role, ElementType type) {
  return role == MatrixRole::accumulator ? 2 : std::max(1, 32 / element_bits(type));
}

/// The values of all codes of a type of 8 bits.
std::array<float, 256> table_of(const NarrowFormat& format) noexcept {
  std::array<float, 256> numbers{};
  for (unsigned bits = 0; bits < numbers.size(); ++bits) {
    numbers[bits] = static_cast<float>(narrow_value(format, bits));
  }
  return numbers;
}
const std::array<float, 256> kE4M3 = table_of(kFloat8E4M3);
const std::array<float, 256> kE5M2 = table_of(kFloat8E5M2);

/// A register of the fragment, whatever its width.
template <typename T>
using RegisterOf = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;

}  // namespace

int element_bits(ElementType type) { return facts(type).bits; }
const char* element_name(ElementType type) { return facts(type).name; }

template <typename T>
T element_value(ElementType type, std::uint64_t bits) {
  using enum ElementType;
  if constexpr (std::is_same_v<T, float>) {
    switch (type) {
      case f16:
        return to_float(Half{static_cast<std::uint16_t>(bits)});
      case bf16:
        return to_float(Bfloat16{static_cast<std::uint16_t>(bits)});
      case tf32:  // the lower 13 bits of the fraction are ignored
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xffffe000U);
      case e4m3:
        return kE4M3[bits & 0xffU];
      case e5m2:
        return kE5M2[bits & 0xffU];
      default:
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    const int above = 64 - element_bits(type);
    if (type == u8 || type == u4 || type == b1) return static_cast<T>((bits << above) >> above);
    return static_cast<T>(bits << above) >> above;
  }
}

template <typename T>
std::uint64_t element_bits_of(ElementType type, T value) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_same_v<T, float>) {
    if (type == ElementType::f16) return round_to<Half>(value).bits;
    return value != value ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value);
  } else {
    return static_cast<std::uint32_t>(value);
  }
}

template float element_value(ElementType, std::uint64_t);
template std::int64_t element_value(ElementType, std::uint64_t);
template std::uint64_t element_bits_of(ElementType, float);
template std::uint64_t element_bits_of(ElementType, std::int64_t);

Fragment::Fragment(MatrixRole role, ElementType type, int rows, int columns, int registers)
    : role_(role), type_(type), rows_(rows), columns_(columns), registers_(registers), run_(run_of(role, type)) {
  const int inner = 4 * run_;  // of a block, in the direction that four lanes share
  const bool right = role == MatrixRole::right;
  const int blocks_down = right ? rows / inner : rows / 8;
  for (int element = 0; element < elements(); ++element) {
    const int distinct = element % distinct_elements();
    const int block = distinct / run_;
    for (int lane = 0; lane < kLanes; ++lane) {
      const int g = lane / 4;
      const int t = run_ * (lane % 4) + distinct % run_;
      const int row = right ? inner * (block % blocks_down) + t : 8 * (block % blocks_down) + g;
      const int column = right ? 8 * (block / blocks_down) + g : inner * (block / blocks_down) + t;
      indices_.push_back(static_cast<std::uint16_t>(row * columns + column));
    }
  }
}

Fragment Fragment::of_quad_pairs(MatrixRole role, ElementType type, bool by_columns) {
  const bool right = role == MatrixRole::right;
  const int size = role == MatrixRole::accumulator ? 8 : 4;  // elements of a lane
  const int rows = right ? 4 : 8;
  const int columns = role == MatrixRole::left ? 4 : 8;
  Fragment fragment(role, type, 4 * rows, columns, size * element_bits(type) / 32, 1);
  for (int i = 0; i < size; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int product = lane % 16 / 4;
      const int half = lane / 16 * 4;
      int row = lane % 4 + half;
      int column = i;
      if (type == ElementType::f32) {
        row = (lane & 1) + (i & 2) + half;
        column = (i & 4) + (lane & 2) + (i & 1);
      } else if (role == MatrixRole::left && by_columns) {
        row = i + half;
        column = lane % 4;
      } else if (right) {
        row = by_columns ? i : lane % 4;
        column = (by_columns ? lane % 4 : i) + half;
      }
      fragment.indices_.push_back(static_cast<std::uint16_t>((product * rows + row) * columns + column));
    }
  }
  return fragment;
}

template <typename T>
void Fragment::gather(const WarpState& warp, const Slot* registers, T* matrix) const {
  const int bits = element_bits(type_);
  for (int element = 0; element < distinct_elements(); ++element) {
    const int from = element * bits;
    const auto* const lanes = warp.read<RegisterOf<T>>(registers[from / register_bits()]);
    const int shift = from % register_bits();
    for (int lane = 0; lane < kLanes; ++lane) {
      matrix[index(lane, element)] = element_value<T>(type_, lanes[lane] >> shift);
    }
  }
}

template <typename T>
void Fragment::scatter(const WarpState& warp, const Slot* registers, const T* matrix) const {
  const bool packed = element_bits(type_) == 16;
  for (int i = 0; i < registers_; ++i) {
    write_lanes(warp.write<RegisterOf<T>>(registers[i]), warp.mask, [&](int lane) {
      const auto bits = [&](int element) {
        return static_cast<RegisterOf<T>>(element_bits_of<T>(type_, matrix[index(lane, element)]));
      };
      return packed ? bits(2 * i) | (bits(2 * i + 1) << 16) : bits(i);
    });
  }
}

template void Fragment::gather(const WarpState&, const Slot*, float*) const;
template void Fragment::gather(const WarpState&, const Slot*, double*) const;
template void Fragment::gather(const WarpState&, const Slot*, std::int64_t*) const;
template void Fragment::scatter(const WarpState&, const Slot*, const float*) const;
template void Fragment::scatter(const WarpState&, const Slot*, const double*) const;
template void Fragment::scatter(const WarpState&, const Slot*, const std::int64_t*) const;

void check_all_lanes(const WarpState& warp, const Operation& operation) {
  if (warp.mask == kAllLanes) return;
  warp.block->fault(warp, operation, Checker::synchronization, kNotAllLanes, warp.mask, [&](int lane) {
    return warp.block->finding_at(warp, operation, lane, Checker::synchronization,
                                  fmt::format("all 32 threads of a warp must execute this together, but {} do not",
                                              kLanes - std::popcount(warp.mask)));
  });
}

}  // namespace convladder::simulated
