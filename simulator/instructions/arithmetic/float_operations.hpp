// Floating point operations on one lane's values, without modifiers (PTX ISA 9.0, 9.7.3): for every precision.
#pragma once

#include <cmath>

namespace convladder::simulated::float_operations {

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <typename T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <typename T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct FusedMultiplyAdd {
  template <typename T>
  static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Divide {
  template <typename T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct Reciprocal {
  template <typename T>
  static T apply(T a) {
    return T{1} / a;
  }
};
struct SquareRoot {
  template <typename T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};

/// The operation where .ftz looks at the exact result: a result that only rounding makes normal becomes zero, too. The
/// ISA does not say so, but GPUs do it in mul.rn, and in rcp and div with .rm and .rp. A double is accurate enough:
/// exact for a product, and no quotient of two floats lies so close to a power of two.
template <typename Operation>
struct FlushedBeforeRounding {
  template <typename... Arguments>
  static float apply(Arguments... arguments) {
    const float result = Operation::apply(arguments...);
    const double exact = Operation::apply(static_cast<double>(arguments)...);
    return std::abs(exact) < 0x1p-126 ? std::copysign(0.0F, result) : result;
  }
};

/// If one input is NaN the result is the other, or NaN with `kNan` (.NaN); -0 is less than +0. With `kSignsCombined`
/// (.xorsign.abs) magnitudes are compared, and the result is negative if exactly one input is.
template <bool kMaximum, bool kNan, bool kSignsCombined>
struct Extremum {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (kSignsCombined) {
      const bool negative = std::signbit(a) != std::signbit(b);
      const T magnitude = Extremum<kMaximum, kNan, false>::apply(std::abs(a), std::abs(b));
      return negative && magnitude == magnitude ? -magnitude : magnitude;
    } else {
      if (a != a) return kNan ? a : b;
      if (b != b) return kNan ? b : a;
      if (a == b) return std::signbit(a) == kMaximum ? b : a;
      return (a < b) == kMaximum ? b : a;
    }
  }
};

}  // namespace convladder::simulated::float_operations
