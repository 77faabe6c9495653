// The effects of the modifiers of floating point instructions on inputs and results (PTX ISA 9.0, 9.7.3), and NaN.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

namespace convladder::simulated {

/// Replaces NaN results in single precision by the canonical NaN; double precision keeps the payload.
template <typename T>
T canonical(T value) {
  if constexpr (sizeof(T) == 4) {
    return value != value ? std::bit_cast<T>(0x7fffffffU) : value;
  } else {
    return value;
  }
}

/// .ftz: subnormal inputs and results become zeros of their sign.
template <bool kFlush, typename T>
T flushed(T value) {
  if constexpr (kFlush) {
    return std::abs(value) < std::numeric_limits<T>::min() ? std::copysign(T{0}, value) : value;
  }
  return value;
}

/// .sat: clamped to 0..1, NaN becomes 0.
template <bool kSaturate, typename T>
T saturated(T value) {
  if constexpr (kSaturate) return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
  return value;
}

/// Wraps an operation with the effects of its modifiers on inputs and results.
template <typename Operation, typename T, bool kFlush, bool kSaturate>
struct Rounded {
  template <typename... Arguments>
  static T apply(Arguments... arguments) {
    return saturated<kSaturate>(canonical(flushed<kFlush>(Operation::apply(flushed<kFlush>(arguments)...))));
  }
};

}  // namespace convladder::simulated
