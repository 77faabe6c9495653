#include "simulator/instructions/matrix/tensor_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simulator/lane_kernel.hpp"
#include "simulator/matrix/matrix_registers.hpp"

namespace convladder::simulated {
namespace {

using enum ElementType;

/// Products with 1 each, and what is added to.
float sum_of(TensorCores cores, ElementType factors, float sum, std::vector<float> left) {
  const std::vector<float> ones(left.size(), 1.0F);
  const TensorSum how{cores, factors, factors, f32};
  return tensor_sum(how, sum, left.data(), ones.data(), static_cast<int>(left.size()));
}

// Beside 1, 2^-24 is the bit that an A100 still keeps and 2^-25 the one that only an H100 does: two of the latter make
// one that float32 keeps where the sum is below 1, as 1 - 2^-24.
TEST(TensorSum, CutsOffBelowTheBitsThatItKeeps) {
  for (const float extra : {0x1p-24F, 0x1p-25F, 0x1p-26F}) {
    const float exact = -1.0F + 2 * extra;
    const std::vector<float> terms = {extra, extra, 0, 0};
    const bool a100 = extra >= 0x1p-24F;
    const bool h100 = extra >= 0x1p-25F;
    EXPECT_EQ(sum_of(TensorCores::a100, tf32, -1, terms), a100 ? exact : -1) << extra;
    EXPECT_EQ(sum_of(TensorCores::h100, tf32, -1, terms), h100 ? exact : -1) << extra;
  }
}

TEST(TensorSum, RoundsTowardZeroAtTheEnd) {
  // 1 + 2^-23 + 2^-24 lies between two floats; to nearest it would be 1 + 2^-22.
  const std::vector<float> terms = {0x1p-23F, 0x1p-24F, 0, 0};
  EXPECT_EQ(sum_of(TensorCores::a100, tf32, 1, terms), 1 + 0x1p-23F);
  EXPECT_EQ(sum_of(TensorCores::a100, tf32, -1, {-0x1p-23F, -0x1p-24F, 0, 0}), -1 - 0x1p-23F);
}

TEST(TensorSum, AddsAGroupAtOnceWithoutOrder) {
  // In one group 1e8 and -1e8 are gone before anything is rounded; what was beside them is cut off first.
  EXPECT_EQ(sum_of(TensorCores::h100, tf32, 0, {0x1p26F, 3, -0x1p26F, 5}), 6) << "3 and 5 lose what is below 2";
  // Four at a time on an A100: the second group begins with what the first one left.
  EXPECT_EQ(sum_of(TensorCores::a100, tf32, 0, {0x1p30F, -0x1p30F, 1, 1, 1, 1, 0, 0}), 2);
  EXPECT_EQ(sum_of(TensorCores::h100, tf32, 0, {0x1p30F, -0x1p30F, 1, 1, 1, 1, 0, 0}), 0) << "eight at a time";
}

TEST(TensorSum, AProductKeepsTheSumOfItsFactorsExponents) {
  // 1.5 * 1.5 = 2.25 counts as exponent 0: of 2^-24 beside it nothing is lost on an A100, though 2.25 has exponent 1.
  const float left[] = {-1.5F, 0x1p-24F, 0, 0};
  const float right[] = {1.5F, 1, 0, 0};
  const TensorSum how{TensorCores::a100, tf32, tf32, f32};
  EXPECT_EQ(tensor_sum(how, 2.25F, left, right, 4), 0) << "the sum so far has exponent 1";
  EXPECT_EQ(tensor_sum(how, 1.25F, left, right, 4), -1 + 0x1p-24F);
}

TEST(TensorSum, HalfSumsAreRoundedToNearest) {
  const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  const float left[] = {0x1p-11F, 0x1p-14F, 0, 0, 0, 0, 0, 0};
  const TensorSum how{TensorCores::a100, f16, f16, f16};
  EXPECT_EQ(tensor_sum(how, 1, left, ones, 8), 1 + 0x1p-10F);
}

TEST(TensorSum, Fp8KeepsThirteenBits) {
  EXPECT_EQ(sum_of(TensorCores::h100, e5m2, 1, {0x1p-13F, 0x1p-14F}), 1 + 0x1p-13F);
}

TEST(TensorSum, SmallSumsAndNoNumbers) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(sum_of(TensorCores::a100, tf32, 0, {0, 0, 0, 0}), 0);
  EXPECT_EQ(sum_of(TensorCores::a100, tf32, 3 * tiny, {0, 0, 0, 0}), 3 * tiny);
  EXPECT_EQ(sum_of(TensorCores::a100, tf32, 1, {INFINITY, 0, 0, 0}), INFINITY);
  EXPECT_TRUE(std::isnan(sum_of(TensorCores::a100, tf32, NAN, {1, 0, 0, 0})));
  EXPECT_TRUE(std::isnan(sum_of(TensorCores::h100, tf32, 0, {INFINITY, -INFINITY, 0, 0})));
  EXPECT_EQ(sum_of(TensorCores::h100, tf32, 0x1p127F, {0x1p127F, 0, 0, 0}), INFINITY);
}

// mma.m16n8k8 of tf32: c is -1, and every product 2^-25.
TEST(TensorSum, MmaAsksForIt) {
  const auto result = [](TensorCores cores) {
    std::string body = ".reg .b32 %x<12>;\n.reg .f32 %y<4>;\n";
    for (int i = 0; i < 6; ++i) body += fmt::format("mov.b32 %x{}, 0f33000000;\n", i);   // 2^-25
    body += "mov.b32 %x4, 0f3f800000; mov.b32 %x5, 0f3f800000;\n";                       // b: 1
    for (int i = 6; i < 10; ++i) body += fmt::format("mov.b32 %x{}, 0fbf800000;\n", i);  // c: -1
    body +=
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%y0,%y1,%y2,%y3}, {%x0,%x1,%x2,%x3}, {%x4,%x5}, "
        "{%x6,%x7,%x8,%x9};\nst.global.f32 [%rd4], %y0; ret;";
    LaneKernel kernel(body, Words(32), 32);
    kernel.run.set_tensor_cores(cores);
    return std::bit_cast<float>(kernel.results().front());
  };
  EXPECT_EQ(result(TensorCores::rounding), -1.0F) << "each sum is rounded to what it was";
  EXPECT_EQ(result(TensorCores::a100), -1.0F) << "each product is cut off";
  EXPECT_EQ(result(TensorCores::h100), -1 + 0x1p-22F) << "eight are added before anything is rounded";
}

}  // namespace
}  // namespace convladder::simulated
