#include "harness/measure/verification/tanh_comparison.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace convladder {
namespace {

/// e^x for -1000 * ln(2) <= x <= 0: 2^n, and Taylor's series for the rest, at most ln(2) / 2 in size.
inline double exponential_of(double x) {
  constexpr double kLn2 = 0.6931471805599453;
  // Adding 1.5 * 2^52 leaves the nearest whole number n in the lowest bits; 2^n is n in the exponent's place.
  const double shifted = x * (1 / kLn2) + 0x1.8p52;
  const double f = x - (shifted - 0x1.8p52) * kLn2;
  const auto scale = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52U);
  double sum = 1.0 / 39916800;
  sum = sum * f + 1.0 / 3628800;
  sum = sum * f + 1.0 / 362880;
  sum = sum * f + 1.0 / 40320;
  sum = sum * f + 1.0 / 5040;
  sum = sum * f + 1.0 / 720;
  sum = sum * f + 1.0 / 120;
  sum = sum * f + 1.0 / 24;
  sum = sum * f + 1.0 / 6;
  sum = sum * f + 0.5;
  sum = sum * f + 1;
  sum = sum * f + 1;
  return sum * scale;
}

/// The hyperbolic tangent of |x|.
inline double tanh_of(double x) {
  const double size = std::abs(x);
  const double e = exponential_of(-2 * (size < 20 ? size : 20.0));  // from 20 on the tangent is 1
  const double square = size * size;
  const double small = size * (1 - square * (1.0 / 3) + square * square * (2.0 / 15));
  return size < 1e-3 ? small : (1 - e) / (1 + e);
}

}  // namespace

double max_tanh_error(const float* x, const float* found, std::int64_t count) {
  double largest = 0;
  std::int64_t not_a_number = 0;
#pragma omp simd reduction(max : largest) reduction(+ : not_a_number)
  for (std::int64_t i = 0; i < count; ++i) {
    const double in = x[i];
    const double size = tanh_of(in);
    const double error = std::abs(double{found[i]} - (in < 0 ? -size : size));
    const double scaled = error == 0 ? 0 : error / size;
    largest = scaled > largest ? scaled : largest;
    // An input that is NaN is not seen by the comparisons above.
    not_a_number += scaled != scaled || in != in ? 1 : 0;
  }
  return not_a_number > 0 ? std::numeric_limits<double>::quiet_NaN() : largest;
}

}  // namespace convladder
