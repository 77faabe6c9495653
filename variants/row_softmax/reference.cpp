// y = exp(x - m) / sum of exp(x - m) over the row, where m is the largest x of the row: it cancels out, and without it
// the exponentials would be too large for any type.
//
// The scale of errors for each element is y itself, as often as float32 rounds on the way to it. x - m is rounded to
// 2^-24 of itself, and so is its product with log2(e), and an error of d in an exponent is a relative error of d in the
// result: |x - m|. A sum of C positive terms has rounded C - 1 times, in any direction: the square root of C. One for
// the rest. A result about as small as the smallest normal number may as well be 0.
#include <algorithm>
#include <cmath>
#include <cstdint>

extern "C" void reference(const double* x, double* y, double* y_scale, int R, int C) {
  constexpr double kSmallest = 0x1p-125 / 1e-6;
  for (std::int64_t r = 0; r < R; ++r) {
    const double* const from = x + r * C;
    const double largest = *std::max_element(from, from + C);
    double sum = 0;
    for (int c = 0; c < C; ++c) sum += std::exp(from[c] - largest);
    for (int c = 0; c < C; ++c) {
      const double value = std::exp(from[c] - largest) / sum;
      y[r * C + c] = value;
      y_scale[r * C + c] = value * (1 + (largest - from[c]) + std::sqrt(C)) + kSmallest;
    }
  }
}
