// @title Vectors
// @hypothesis eight or sixteen exponentials at once, from a polynomial that the compiler can see through
//
// Against the stage below, exp() is written out here, so that the compiler turns it into vectors as it does with any
// arithmetic: e^x = 2^n * 2^f with n the whole number next to x * log2(e). 2^n is n in the place of the exponent, and
// 2^f with |f| <= 1/2 a polynomial of degree six, good to 2e-9. `omp simd reduction` allows summing in any order, so
// the sum is a vector as well. One division for each row makes a factor. That relieves the arithmetic units.
//
// When it loses: rows that are shorter than a vector. And the search for the largest element is as it was, one after
// the other: what was a small part of the time is now most of it. The next stage mends that.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace {

/// e^x for x <= 0, relative error |x| * 2^-23 + 2^-22; 0 below -87, where float32 has no normal numbers left.
float exponential(float x) {
  const float power = x * 1.44269504F;
  // Adding 1.5 * 2^23 leaves the nearest whole number in the lowest bits.
  const float shifted = power + 12582912.0F;
  const float f = power - (shifted - 12582912.0F);
  const float scale = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
  float value = 0.00015478024F;
  value = value * f + 0.0013400431F;
  value = value * f + 0.009617995F;
  value = value * f + 0.05550327F;
  value = value * f + 0.24022652F;
  value = value * f + 0.6931472F;
  value = value * f + 1.0F;
  // A mask of bits, since g++ makes a branch of "x < -87 ? 0 : …" and then does not vectorise the loop.
  const std::uint32_t all_or_none = 0U - static_cast<std::uint32_t>(!(x < -87.0F));
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value * scale) & all_or_none);
}

void softmax_row(const float* x, float* y, int C) {
  float largest = x[0];
  for (int c = 0; c < C; ++c) largest = std::max(largest, x[c]);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int c = 0; c < C; ++c) {
    const float value = exponential(x[c] - largest);
    y[c] = value;
    sum += value;
  }
  const float factor = 1 / sum;
#pragma omp simd
  for (int c = 0; c < C; ++c) y[c] *= factor;
}

}  // namespace

extern "C" void solve(const float* x, float* y, int R, int C) {
  for (int r = 0; r < R; ++r) {
    const std::size_t row = static_cast<std::size_t>(r) * C;
    softmax_row(x + row, y + row, C);
  }
}
