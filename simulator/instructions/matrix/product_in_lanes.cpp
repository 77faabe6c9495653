#include "simulator/instructions/matrix/product_in_lanes.hpp"

#include <array>
#include <utility>

#include "simulator/instructions/matrix/lane_floats.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

constexpr int kMostRun = 4;  // elements of a register, if they have 8 bits

/// For every lane, element `number` of the run in a register.
[[gnu::always_inline]] inline LaneFloats factors_of(const std::uint32_t* words, ElementType type, int number) {
  std::array<std::uint32_t, kLanes> bits;
  switch (type) {
    case ElementType::tf32:  // the lower 13 bits of the fraction are ignored
      for (int lane = 0; lane < kLanes; ++lane) bits[lane] = words[lane] & 0xffffe000U;
      break;
    case ElementType::bf16:
      for (int lane = 0; lane < kLanes; ++lane) bits[lane] = words[lane] >> (16 * number) << 16;
      break;
    case ElementType::f16:
      for (int lane = 0; lane < kLanes; ++lane) {
        const Half half{static_cast<std::uint16_t>(words[lane] >> (16 * number))};
        bits[lane] = std::bit_cast<std::uint32_t>(to_float(half));
      }
      break;
    default:
      for (int lane = 0; lane < kLanes; ++lane) {
        bits[lane] =
            std::bit_cast<std::uint32_t>(element_value<float>(type, words[lane] >> (element_bits(type) * number)));
      }
  }
  return load_floats(bits.data());
}

/// The product of matrices with kRows times 8 rows and kColumns times 8 columns. The layout is that of Fragment:
/// register `block * kRows + row` of a holds a run of columns of 8 rows, register `column * blocks + block` of b the
/// same rows of 8 columns, two registers of sums hold each pair of columns of 8 rows.
template <int kRows, int kColumns>
void multiply_in_lanes(WarpState& warp, const Operation& operation) {
  check_all_lanes(warp, operation);
  const Product& product = matrix_products()[static_cast<std::size_t>(operation.detail)];
  const Slot* const d_registers = warp.block->program->operand_lists.data() + operation.list;
  const Slot* const a_registers = d_registers + product.d.registers();
  const Slot* const b_registers = a_registers + product.a.registers();
  const Slot* const c_registers = b_registers + product.b.registers();
  std::array<std::array<std::array<LaneFloats, 2>, kColumns>, kRows> sums;
  const auto register_of = [](int row, int column, int odd) { return 2 * (column * kRows + row) + odd; };
  const auto for_each_sum = [&](const auto& visit) {
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        for (int odd = 0; odd < 2; ++odd) visit(sums[row][column][odd], register_of(row, column, odd));
      }
    }
  };
  for_each_sum([&](LaneFloats& sum, int i) { sum = load_floats(warp.read<std::uint32_t>(c_registers[i])); });

  const int run = product.a.run();
  const int blocks = product.a.columns() / (4 * run);
  std::array<std::array<LaneFloats, kMostRun>, kRows> left;
  std::array<std::array<LaneFloats, kMostRun>, kColumns> right;
  const auto add_products = [&]<int kLane>() {
    for (int i = 0; i < run; ++i) {
      for (int column = 0; column < kColumns; ++column) {
        const LaneFloats even = spread_quads<kLane, 0>(right[column][i]);
        const LaneFloats odd = spread_quads<kLane, 1>(right[column][i]);
        for (int row = 0; row < kRows; ++row) {
          const LaneFloats factor = spread_in_quads<kLane>(left[row][i]);
          sums[row][column][0] = multiply_add(factor, even, sums[row][column][0]);
          sums[row][column][1] = multiply_add(factor, odd, sums[row][column][1]);
        }
      }
    }
  };
  for (int block = 0; block < blocks; ++block) {
    for (int i = 0; i < run; ++i) {
      for (int row = 0; row < kRows; ++row) {
        const auto* const words = warp.read<std::uint32_t>(a_registers[block * kRows + row]);
        left[row][i] = factors_of(words, product.a.type(), i);
      }
      for (int column = 0; column < kColumns; ++column) {
        const auto* const words = warp.read<std::uint32_t>(b_registers[column * blocks + block]);
        right[column][i] = factors_of(words, product.b.type(), i);
      }
    }
    [&]<int... kLane>(std::integer_sequence<int, kLane...>) { (add_products.template operator()<kLane>(), ...); }
    (std::make_integer_sequence<int, 4>{});
  }
  for_each_sum(
      [&](const LaneFloats& sum, int i) { store_floats(warp.write<std::uint32_t>(d_registers[i]), warp.mask, sum); });
}

}  // namespace

Handler product_in_lanes(const Product& product) {
  const bool is_wide = product.c.type() == ElementType::f32 && product.d.type() == ElementType::f32;
  if (!is_wide || product.sparse || product.products != 1) return nullptr;
  const auto size = std::pair(product.a.rows() / 8, product.b.columns() / 8);
  if (size == std::pair(2, 1)) return &multiply_in_lanes<2, 1>;
  if (size == std::pair(2, 2)) return &multiply_in_lanes<2, 2>;
  if (size == std::pair(4, 1)) return &multiply_in_lanes<4, 1>;
  if (size == std::pair(1, 4)) return &multiply_in_lanes<1, 4>;
  return nullptr;
}

}  // namespace convladder::simulated
