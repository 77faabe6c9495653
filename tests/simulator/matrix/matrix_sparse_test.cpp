// Products with a sparse left factor: the elements that are there, and metadata that say where.

#include <array>

#include "simulator/matrix/matrix_registers.hpp"

namespace convladder::simulated {
namespace {

/// Of every group of `of` neighbours in a row, each of `unit` elements, `kept` are there.
struct Sparsity {
  int of = 4;
  int kept = 2;
  int unit = 1;

  /// Which of a group are there: without a pattern, in ascending order.
  std::array<int, 2> places(int row, int group) const {
    const int hash = (row * 7 + group * 5 + row * group) % 6;
    if (kept == 1) return {hash % 2, 0};
    constexpr std::array<std::array<int, 2>, 6> pairs{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
    return pairs[static_cast<std::size_t>(hash)];
  }
  /// The column of the whole matrix that element `i` of a row stands for.
  int column(int row, int i) const {
    const int group = i / unit / kept;
    const int place = places(row, group)[static_cast<std::size_t>(i / unit % kept)];
    return (group * of + place) * unit + i % unit;
  }
  /// Four bits for a group.
  std::uint32_t metadata(int row, int group) const {
    const std::array<int, 2> at = places(row, group);
    if (kept == 1) return at[0] == 0 ? 0b0100U : 0b1110U;
    return static_cast<std::uint32_t>(at[0] | (at[1] << 2));
  }
};

struct SparseCase {
  int k;
  std::string left;
  std::string right;
  std::string sum;
};

void check_sparse(const SparseCase& test, int selector, const std::string& name) {
  const int bits = bits_of_type(test.left == "tf32" ? "f32" : test.left == "bf16" ? "f16" : test.left);
  const Sparsity sparsity = bits == 32 ? Sparsity{2, 1, 1} : bits == 4 ? Sparsity{4, 2, 2} : Sparsity{};
  const int kept = test.k / 2;
  const int run = 32 / bits;
  const std::string left = test.left == "tf32" ? "f32" : test.left;
  const std::string right = test.right == "tf32" ? "f32" : test.right;
  const Registers a{left, 16 * kept * bits / 1024, [&](int lane, int i) {
                      const int number = i / run;
                      return Place{lane / 4 + 8 * (number % 2), 4 * run * (number / 2) + run * (lane % 4) + i % run};
                    }};
  const Registers b{right, test.k * 8 * bits / 1024, [&](int lane, int i) {
                      return Place{4 * run * (i / run) + run * (lane % 4) + i % run, lane / 4};
                    }};
  const Registers c{test.sum, test.sum == "f16" ? 2 : 4, [](int lane, int i) {
                      return Place{lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2};
                    }};
  const MatrixOf a_of = [&](int row, int i) { return matrix_number(left, row, i, 1); };
  const MatrixOf b_of = [&](int row, int column) { return matrix_number(right, row, column, 2); };
  const MatrixOf c_of = [&](int row, int column) { return matrix_number("s8", row, column, 3); };
  const MatrixOf expected = [&](int row, int column) {
    std::int64_t total = c_of(row, column);
    for (int i = 0; i < kept; ++i) total += a_of(row, i) * b_of(sparsity.column(row, i), column);
    return total;
  };
  // What lanes say that are not asked must not count.
  Words metadata(32, 0x5a5a5a5aU);
  const int groups = test.k / sparsity.of / sparsity.unit;
  const auto set = [&](int lane, int shift, std::uint32_t nibble) {
    std::uint32_t& word = metadata[static_cast<std::size_t>(lane)];
    word = (word & ~(15U << shift)) | (nibble << shift);
  };
  for (int row = 0; row < 16; ++row) {
    for (int group = 0; group < groups; ++group) {
      const std::uint32_t nibble = sparsity.metadata(row, group);
      const int quad = 4 * (row % 8);
      if (bits >= 16) {  // four groups are 16 bits; rows g and g + 8 share a lane
        set(quad + selector * (groups / 4) + group / 4, 16 * (row / 8) + 4 * (group % 4), nibble);
      } else {  // eight groups are 32 bits
        set(quad + 2 * selector + 2 * (group / 8) + row / 8, 4 * (group % 8), nibble);
      }
    }
  }
  const std::string opcode = fmt::format("{}.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{}", name, test.k, test.sum,
                                         test.left, test.right, test.sum);
  const auto found = multiplied(opcode, c, a, b, c, a_of, b_of, c_of, fmt::format(", %r30, {}", selector), metadata);
  expect_matrix(opcode, found, c, expected);
}

TEST(SimulatedSparseMma, ElementsStandWhereTheMetadataSay) {
  for (const char* name : {"mma.sp", "mma.sp::ordered_metadata"}) {
    for (const int selector : {0, 1, 2, 3}) {
      if (name != std::string("mma.sp") && selector != 1) continue;
      check_sparse({16, "f16", "f16", "f32"}, selector, name);
      check_sparse({16, "f16", "f16", "f16"}, selector, name);
      check_sparse({8, "tf32", "tf32", "f32"}, selector, name);
      if (selector > 1) continue;
      check_sparse({32, "f16", "f16", "f32"}, selector, name);
      check_sparse({32, "f16", "f16", "f16"}, selector, name);
      check_sparse({16, "tf32", "tf32", "f32"}, selector, name);
      for (const char* left : {"s8", "u8"}) {
        for (const char* right : {"s8", "u8"}) check_sparse({32, left, right, "s32"}, selector, name);
      }
      for (const char* left : {"s4", "u4"}) {
        for (const char* right : {"s4", "u4"}) check_sparse({64, left, right, "s32"}, selector, name);
      }
    }
    check_sparse({64, "s8", "u8", "s32"}, 0, name);
    check_sparse({128, "u4", "s4", "s32"}, 0, name);
    for (const char* left : {"e4m3", "e5m2"}) {
      for (const char* right : {"e4m3", "e5m2"}) check_sparse({64, left, right, "f32"}, 0, name);
    }
  }
}

TEST(SimulatedSparseMma, WhatIsNotThereIsNotMultiplied) {
  // Rows 2 and 3 of every four of b are infinite; the metadata name 0 and 1.
  LaneKernel kernel(
      "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; selp.b32 %r3, 0x3c003c00, 0x7c007c00, %p1;\n"
      "mov.u32 %r4, 0x40004000; mov.u32 %r5, 0; mov.u32 %r6, 0x44444444;\n"
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, {%r4, %r4}, {%r3, %r3}, "
      "{%r5, %r5, %r5, %r5}, %r6, 0; st.global.u32 [%rd4], %r10; ret;",
      Words(32), 32);
  EXPECT_EQ(kernel.results(), Words(32, static_cast<std::uint32_t>(encoded("f32", 16))));
}

}  // namespace
}  // namespace convladder::simulated
