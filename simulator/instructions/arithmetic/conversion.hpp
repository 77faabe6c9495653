// Helpers of all conversions: rounding to integral values, clamping to an integer type, storing results.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "simulator/instructions/arithmetic/lane_functions.hpp"

namespace convladder::simulated {

/// A signed result of 8 or 16 bits fills a wider register with its sign (PTX ISA 9.0, table of relaxed type checking).
template <typename To>
using Stored = std::conditional_t<std::is_signed_v<To> && std::is_integral_v<To> && sizeof(To) < 4, std::int32_t, To>;

template <typename To>
constexpr OperandUse stored_use() {
  if (sizeof(To) == 8) return OperandUse::write_64;
  return std::is_integral_v<To> && std::is_signed_v<To> ? OperandUse::write_signed_32 : OperandUse::write_32;
}

// The rounding functions of .rni, .rzi, .rmi and .rpi.
struct Nearest {
  template <typename T>
  static T apply(T value) {
    return std::nearbyint(value);  // the default mode: to nearest even
  }
};
struct TowardsZero {
  template <typename T>
  static T apply(T value) {
    return std::trunc(value);
  }
};
struct Down {
  template <typename T>
  static T apply(T value) {
    return std::floor(value);
  }
};
struct Up {
  template <typename T>
  static T apply(T value) {
    return std::ceil(value);
  }
};

/// The integer nearest to `rounded`, which is `value` rounded. NaN becomes 0 between types of up to 32 bits, and the
/// number with only the top bit set if one of the types has 64 (PTX ISA 9.0, 9.7.9.21: cvt).
template <typename To, typename From>
To float_to_integer(From value, From rounded) {
  if (value != value) {
    if (sizeof(From) < 8 && sizeof(To) < 8) return To{0};
    return static_cast<To>(std::make_unsigned_t<To>{1} << (8 * sizeof(To) - 1));
  }
  // The largest integer may not be a float; the power of two above it always is.
  constexpr int width = std::numeric_limits<To>::digits;
  if (rounded >= std::ldexp(From{1}, width)) return std::numeric_limits<To>::max();
  if (rounded < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(rounded);
}

}  // namespace convladder::simulated
