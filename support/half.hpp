// The 16-bit floating point types and their pairs (PTX ISA 9.0, 5.2.3): values as registers hold them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "support/rounding.hpp"

namespace convladder::simulated {

/// .f16: IEEE 754 binary16.
struct Half {
  using Bits = std::uint16_t;
  static constexpr FloatFormat kFormat = kHalfFormat;
  static constexpr Bits kNan = 0x7fff;  ///< the NaN result of operations
  static constexpr Bits kOne = 0x3c00;
  static constexpr const char* kSuffix = "f16";
  Bits bits = 0;
};

/// .bf16: the upper half of a binary32.
struct Bfloat16 {
  using Bits = std::uint16_t;
  static constexpr FloatFormat kFormat = kBfloat16Format;
  static constexpr Bits kNan = 0x7fff;
  static constexpr Bits kOne = 0x3f80;
  static constexpr const char* kSuffix = "bf16";
  Bits bits = 0;
};

/// .f16x2 and .bf16x2: two numbers in 32 bits, the first in the lower half.
template <typename Element>
struct Pair {
  using Bits = std::uint32_t;
  Bits bits = 0;
  Element low() const { return {static_cast<std::uint16_t>(bits)}; }
  Element high() const { return {static_cast<std::uint16_t>(bits >> 16)}; }
  static Pair of(Element low, Element high) { return {low.bits | (Bits{high.bits} << 16)}; }
};

/// The value as a float. Exact. NaN stays NaN, whatever its payload.
inline float to_float(Half value) {
  const std::uint32_t magnitude = (value.bits & 0x7fffU) << 13;  // the fraction and exponent where binary32 has them
  // 2^112 compensates for the different bias, also of subnormal numbers.
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
  const std::uint32_t finite = magnitude >= 0x0f800000U ? magnitude | 0x7f800000U : scaled;
  return std::bit_cast<float>(finite | ((value.bits & 0x8000U) << 16));
}
inline float to_float(Bfloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

/// A value in the type's precision. `value` must be exact or rounded to odd; otherwise the result is rounded twice.
template <typename Element>
Element round_to(double value, Rounding rounding = Rounding::nearest_even) {
  return {static_cast<std::uint16_t>(round_double<Element::kFormat>(value, rounding, Element::kNan))};
}

/// a + b, rounded to odd: if it is not exact, to the neighbour whose last bit is one. Rounding it again to a precision
/// that is at least two bits smaller gives what rounding the exact sum would (Boldo and Melquiond, "Emulation of FMA
/// and correctly rounded sums: proved algorithms using rounding to odd", 2008). Sums that overflow are not covered.
inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);  // exact: Knuth's TwoSum
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  // An infinite or NaN sum has a NaN error, for which this comparison is false.
  if (!(error < 0 || error > 0) || (bits & 1) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);  // the exact sum's magnitude is the greater one
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

/// The product of two numbers of up to 24 bits is exact in double precision; the sum is rounded to odd.
inline double fused_multiply_add_to_odd(double a, double b, double c) { return add_to_odd(a * b, c); }

}  // namespace convladder::simulated
