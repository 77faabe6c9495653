// wgmma against a product on the host: every type, and every way in which factors can lie in shared memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/lane_kernel.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;

constexpr int kRows = 64;
constexpr int kColumns = 24;

/// How a factor lies: rows of `swizzle` bytes (0: none) as a copy of a tensor would leave them, k varying fastest, or,
/// transposed, m or n.
struct Layout {
  int swizzle = 128;
  bool transposed = false;

  int leading() const {
    return swizzle == 0 ? 128 : 16 * swizzle;  // of transposed factors: both groups of eight k
  }
  int stride() const { return swizzle == 0 ? 256 : 8 * swizzle; }
  std::uint64_t mode() const { return swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0; }

  int offset(int row, int k, int element_bytes) const {
    const int fast = (transposed ? row : k) * element_bytes;
    const int slow = transposed ? k : row;
    if (swizzle == 0) {
      const int unit = fast / 16;
      const int group = slow / 8;
      return (transposed ? unit * stride() + group * leading() : group * stride() + unit * leading()) + slow % 8 * 16 +
             fast % 16;
    }
    const int block = transposed ? fast / swizzle * leading() : 0;
    const int in_row = fast % swizzle;
    const int phase = slow % 8 / (128 / swizzle) % (swizzle / 16);
    return block + slow / 8 * stride() + slow % 8 * swizzle + ((in_row / 16) ^ phase) * 16 + in_row % 16;
  }
  std::uint64_t descriptor(int start) const {
    return static_cast<std::uint64_t>(start >> 4) | static_cast<std::uint64_t>(leading() >> 4) << 16 |
           static_cast<std::uint64_t>(stride() >> 4) << 32 | mode() << 62;
  }
};

/// Small whole numbers are exact in every type.
std::uint64_t encoded(ElementType type, int value) {
  const std::uint64_t sign = value < 0 ? 1 : 0;
  const int magnitude = std::abs(value);
  switch (type) {
    case ElementType::f16:
      return round_to<Half>(value).bits;
    case ElementType::bf16:
      return round_to<Bfloat16>(value).bits;
    case ElementType::tf32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value)) | 0x1fffU;  // what does not count
    case ElementType::e4m3:
      return sign << 7 | (magnitude == 0 ? 0U : magnitude == 1 ? 0x38U : 0x40U);
    case ElementType::e5m2:
      return sign << 7 | (magnitude == 0 ? 0U : magnitude == 1 ? 0x3cU : 0x40U);
    default:
      return static_cast<std::uint8_t>(value);
  }
}

struct GroupCase {
  ElementType left;
  ElementType right;
  const char* sum;
  Layout left_layout;
  Layout right_layout;
  int step = 0;  ///< which 32 bytes of k
};

int value_at(ElementType type, int row, int k) { return (row * 7 + k * 3) % 5 - (type == ElementType::u8 ? 0 : 2); }

void run_case(const GroupCase& test, bool adds, int left_sign) {
  const int bytes = element_bits(test.left) / 8;
  const int depth = 32 / bytes;
  const int first_k = test.step * depth;
  constexpr int kRight = 16384;
  std::vector<std::uint8_t> image(2 * kRight);
  const auto put = [&](const Layout& layout, ElementType type, int start, int rows) {
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < depth; ++k) {
        const std::uint64_t bits = encoded(type, value_at(type, row, first_k + k));
        std::memcpy(image.data() + start + layout.offset(row, first_k + k, bytes), &bits,
                    static_cast<std::size_t>(bytes));
      }
    }
  };
  put(test.left_layout, test.left, 0, kRows);
  put(test.right_layout, test.right, kRight, kColumns);
  Words input(image.size() / 4);
  std::memcpy(input.data(), image.data(), image.size());

  const bool is_integer_sum = std::string(test.sum) == "s32";
  const bool packed = std::string(test.sum) == "f16";
  const int registers = packed ? kColumns / 4 : kColumns / 2;
  std::string body =
      "mov.u32 %r20, %r1;\nCOPY: mul.wide.u32 %rd6, %r20, 4; add.s64 %rd6, %rd6, %rd2; ld.global.u32 %r21, [%rd6];\n"
      "shl.b32 %r22, %r20, 2; st.shared.u32 [%r22], %r21; add.u32 %r20, %r20, 128; setp.lt.u32 %p1, %r20, 8192;\n"
      "@%p1 bra COPY; bar.sync 0; fence.proxy.async; wgmma.fence.sync.aligned;\n";
  std::string sums;
  const char* const first_sum = is_integer_sum ? "100" : packed ? "0x56405640" : "0f42C80000";
  for (int i = 0; i < registers; ++i) {
    sums += fmt::format("{}%r{}", i > 0 ? ", " : "", 2 + i);
    body += fmt::format("mov.b32 %r{}, {};\n", 2 + i, first_sum);
  }
  const auto start = [&](const Layout& layout) {
    return layout.transposed || layout.swizzle == 0 ? 0 : 32 * test.step;
  };
  body += fmt::format(
      "mov.b64 %rd7, {}; mov.b64 %rd8, {}; setp.eq.u32 %p2, 0, {};\n"
      "wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{} {{{}}}, %rd7, %rd8, %p2",
      test.left_layout.descriptor(start(test.left_layout)),
      test.right_layout.descriptor(kRight + start(test.right_layout)), adds ? 0 : 1, kColumns, depth, test.sum,
      element_name(test.left), element_name(test.right), sums);
  if (!is_integer_sum) body += fmt::format(", {}, 1", left_sign);
  if (bytes == 2) body += test.left_layout.transposed ? ", 1" : ", 0";
  if (bytes == 2) body += test.right_layout.transposed ? ", 1" : ", 0";
  body += ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < registers; ++i) body += fmt::format("st.global.u32 [%rd4+{}], %r{};\n", 4 * i, 2 + i);
  LaneKernel kernel(body + "ret;", input, 128 * static_cast<std::size_t>(registers), 1, registers);
  const Words out = kernel.results(128, 2 * kRight);
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < kColumns / 2; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      int expected = adds ? 100 : 0;
      for (int k = first_k; k < first_k + depth; ++k) {
        expected += (is_integer_sum ? 1 : left_sign) * value_at(test.left, row, k) * value_at(test.right, column, k);
      }
      const std::uint32_t bits = out.data()[thread * registers + (packed ? i / 2 : i)];
      const float found = is_integer_sum ? static_cast<float>(static_cast<std::int32_t>(bits))
                          : packed       ? to_float(Half{static_cast<std::uint16_t>(bits >> (16 * (i % 2)))})
                                         : std::bit_cast<float>(bits);
      ASSERT_EQ(found, static_cast<float>(expected))
          << element_name(test.left) << " " << test.sum << " swizzles " << test.left_layout.swizzle << " "
          << test.right_layout.swizzle << " row " << row << " column " << column;
    }
  }
}

TEST(SimulatedWarpGroup, MultipliesEveryType) {
  using enum ElementType;
  for (const GroupCase& test : {GroupCase{f16, f16, "f32", {}, {}},
                                {f16, f16, "f16", {}, {}},
                                {bf16, bf16, "f32", {}, {}},
                                {tf32, tf32, "f32", {}, {}},
                                {e4m3, e5m2, "f32", {}, {}},
                                {e5m2, e4m3, "f16", {}, {}},
                                {s8, u8, "s32", {}, {}},
                                {u8, s8, "s32", {}, {}}}) {
    run_case(test, true, -1);
    run_case(test, false, 1);
  }
}

TEST(SimulatedWarpGroup, FindsFactorsHoweverTheyLie) {
  using enum ElementType;
  for (const int swizzle : {0, 32, 64, 128}) {
    for (const bool transposed : {false, true}) {
      run_case({f16, f16, "f32", {swizzle, transposed}, {swizzle, !transposed}}, true, 1);
      run_case({bf16, bf16, "f32", {128, transposed}, {swizzle, transposed}}, false, 1);
    }
    run_case({s8, s8, "s32", {swizzle, false}, {swizzle, false}}, true, 1);
    if (swizzle >= 64) run_case({tf32, tf32, "f32", {swizzle, false}, {swizzle, false}, swizzle / 32 - 1}, true, 1);
  }
}

TEST(SimulatedWarpGroup, TakesTheLeftFactorFromRegisters) {
  LaneKernel kernel(
      "mov.b32 %r24, 0x3c003c00; mov.u64 %rd8, 0x0000000800080000; mov.u32 %r20, 0x40004000; shl.b32 %r21, %r1, 2;\n"
      "st.shared.u32 [%r21], %r20; bar.sync 0; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 "
      "%f4, "
      "%f1; mov.b32 %r25, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r24, %r25, "
      "%r24, "
      "%r25}, %rd8, 1, 1, 1, 0;\nst.global.v4.f32 [%rd4], {%f1, %f2, %f3, %f4}; ret;",
      Words(128), 512, 1, 4);
  const Words out = kernel.results(128, 512);
  for (std::size_t i = 0; i < 512; ++i) {
    EXPECT_EQ(std::bit_cast<float>(out[i]), i % 4 < 2 ? 32.0F : 0.0F) << i;  // rows of ones, then of zeros, times twos
  }
}

TEST(SimulatedWarpGroup, ReportsWhatCannotBe) {
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd7, %rd7, 0, 1, ";
  EXPECT_THAT(LaneKernel("mov.b64 %rd7, 64; " + product + "1, 0, 0; ret;", Words(32), 32).fault(32, 512),
              HasSubstr("read of 16 bytes at offset"));
  EXPECT_THROW(LaneKernel(product + "2, 0, 0; ret;", Words(32), 32), ptx::PtxError);
  EXPECT_THROW(LaneKernel(product + "1; ret;", Words(32), 32), ptx::PtxError);
  EXPECT_EQ(matrix_product("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16")->operations, 2U * 16 * 256 * 16);
  for (const char* wrong : {"m64n8k8.f32.f16.f16", "m64n264k16.f32.f16.f16", "m64n8k16.f16.bf16.bf16",
                            "m64n8k32.s32.s8.e4m3", "m64n8k16.f32.f16.bf16"}) {
    EXPECT_FALSE(matrix_product(std::string("wgmma.mma_async.sync.aligned.") + wrong)) << wrong;
  }
}

}  // namespace
}  // namespace convladder::simulated
