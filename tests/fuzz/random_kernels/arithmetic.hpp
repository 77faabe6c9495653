// What a GPU's arithmetic gives, for random_kernels.py: written from the PTX ISA and the CUDA programming guide, and
// shares nothing with the simulator. Compiled with -frounding-math.
#pragma once

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace emulated {

enum class Rounding { kNearest, kZero, kUp, kDown };

/// -use_fast_math: subnormal numbers of f32 are zeros.
inline bool flushes = false;
/// 75 for sm_75
inline int architecture = 75;

inline constexpr std::uint32_t kFloatNan = 0x7fffffff;
inline constexpr std::uint64_t kDoubleNan = 0xfff8000000000000;

inline double not_a_number() { return std::bit_cast<double>(kDoubleNan); }
inline float canonical(float value) { return value != value ? std::bit_cast<float>(kFloatNan) : value; }
inline double canonical(double value) { return value != value ? not_a_number() : value; }

inline float flushed(float value) {
  return flushes && std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
}

/// Sets the processor's rounding for as long as it lives.
class ProcessorRounding {
 public:
  explicit ProcessorRounding(Rounding rounding) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    std::fesetround(kModes[static_cast<int>(rounding)]);
    std::feclearexcept(FE_INEXACT);
  }
  ~ProcessorRounding() { std::fesetround(FE_TONEAREST); }
  ProcessorRounding(const ProcessorRounding&) = delete;
  ProcessorRounding& operator=(const ProcessorRounding&) = delete;
};

/// `operation` in double with the last bit set where it is not exact ("round to odd"): rounding that to a format with
/// at least two bits less gives what rounding the exact result gives.
template <class Operation>
double to_odd(Operation operation) {
  const ProcessorRounding scope(Rounding::kZero);
  volatile double result = operation();
  const bool inexact = std::fetestexcept(FE_INEXACT) != 0;
  const double value = result;
  if (!inexact || value != value || std::isinf(value)) return value;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | 1U);
}

/// `value` rounded to an integer that a double holds.
inline double integral(double value, Rounding rounding) {
  const double below = std::floor(value);
  const double part = value - below;
  if (part == 0) return value;
  bool up = false;
  switch (rounding) {
    case Rounding::kNearest:
      up = part > 0.5 || (part == 0.5 && std::fmod(below, 2) != 0);
      break;
    case Rounding::kZero:
      up = value < 0;
      break;
    case Rounding::kUp:
      up = true;
      break;
    case Rounding::kDown:
      up = false;
      break;
  }
  return std::copysign(up ? below + 1 : below, value);
}

/// `value` rounded to `precision` bits with exponents from `least` to `most`, gradual underflow and infinity.
inline double to_format(double value, int precision, int least, int most, Rounding rounding) {
  if (value == 0 || value != value || std::isinf(value)) return value;
  const int exponent = std::max(std::ilogb(value), least) - (precision - 1);
  const double result = std::ldexp(integral(std::ldexp(value, -exponent), rounding), exponent);
  const double largest = std::ldexp(2.0 - std::ldexp(1.0, 1 - precision), most);
  if (std::fabs(result) <= largest) return result == 0 ? std::copysign(0.0, value) : result;
  const bool to_largest = rounding == Rounding::kZero || (rounding == Rounding::kUp && value < 0) ||
                          (rounding == Rounding::kDown && value > 0);
  return std::copysign(to_largest ? largest : std::numeric_limits<double>::infinity(), value);
}

inline float to_float(double value, Rounding rounding) {
  return canonical(static_cast<float>(to_format(value, 24, -126, 127, rounding)));
}

/// The sum of two numbers that are held exactly; a sum of zero is -0 where it is rounded down.
inline double odd_sum(double a, double b, Rounding rounding) {
  const double sum = to_odd([&] { return a + b; });
  return sum == 0 && std::signbit(a) != std::signbit(b) ? (rounding == Rounding::kDown ? -0.0 : 0.0) : sum;
}

inline float add(float a, float b, Rounding rounding) {
  return flushed(to_float(odd_sum(flushed(a), flushed(b), rounding), rounding));
}
inline float multiply(float a, float b, Rounding rounding) {
  return flushed(to_float(double{flushed(a)} * double{flushed(b)}, rounding));
}
inline float multiply_add(float a, float b, float c, Rounding rounding) {
  return flushed(to_float(odd_sum(double{flushed(a)} * double{flushed(b)}, flushed(c), rounding), rounding));
}
inline float divide(float a, float b, Rounding rounding) {
  const double x = flushed(a);
  const double y = flushed(b);
  return flushed(to_float(to_odd([&] { return x / y; }), rounding));
}
inline float square_root(float a, Rounding rounding) {
  const double x = flushed(a);
  return flushed(to_float(to_odd([&] { return std::sqrt(x); }), rounding));
}

template <class Operation>
double in_double(Rounding rounding, Operation operation) {
  const ProcessorRounding scope(rounding);
  volatile double result = operation();
  return canonical(static_cast<double>(result));
}
inline double add(double a, double b, Rounding rounding) {
  return in_double(rounding, [&] { return a + b; });
}
inline double multiply(double a, double b, Rounding rounding) {
  return in_double(rounding, [&] { return a * b; });
}
inline double multiply_add(double a, double b, double c, Rounding rounding) {
  return in_double(rounding, [&] { return std::fma(a, b, c); });
}
inline double divide(double a, double b, Rounding rounding) {
  return in_double(rounding, [&] { return a / b; });
}
inline double square_root(double a, Rounding rounding) {
  return in_double(rounding, [&] { return std::sqrt(a); });
}
inline float to_float_from_double(double value, Rounding rounding) { return flushed(to_float(value, rounding)); }

/// The smaller number, -0 below +0, the other one where one is NaN.
template <class Number>
Number smaller(Number a, Number b) {
  if (a != a) return canonical(b);
  if (b != b) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class Number>
Number larger(Number a, Number b) {
  if (a != a) return canonical(b);
  if (b != b) return a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

/// A conversion to an integer type: values beyond it give its ends. NaN gives 0 if neither side has 64 bits, otherwise
/// the highest bit.
template <class Integer, class Number>
Integer to_integer(Number value, Rounding rounding) {
  using Unsigned = std::make_unsigned_t<Integer>;
  if constexpr (std::is_same_v<Number, float>) value = flushed(value);
  if (value != value) {
    if (sizeof(Number) < 8 && sizeof(Integer) < 8) return 0;
    return static_cast<Integer>(Unsigned{1} << (8 * sizeof(Integer) - 1));
  }
  const double whole = integral(value, rounding);
  if (whole <= static_cast<double>(std::numeric_limits<Integer>::min())) return std::numeric_limits<Integer>::min();
  // The type's largest number and 1, which is a power of two.
  if (whole >= std::ldexp(1.0, std::numeric_limits<Integer>::digits)) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(whole);
}

/// An integer to f32 or f64. Half of 64 bits each are exact in double.
template <class Number, class Integer>
Number from_integer(Integer value, Rounding rounding) {
  const bool negative = value < 0;
  std::uint64_t size = static_cast<std::uint64_t>(value);
  if (negative) size = 0 - size;
  const double high = std::ldexp(static_cast<double>(size >> 32U), 32);
  const double low = static_cast<double>(size & 0xffffffffU);
  const double sign = negative ? -1 : 1;
  if constexpr (std::is_same_v<Number, double>) {
    return in_double(rounding, [&] { return sign * high + sign * low; });
  } else {
    return to_float(to_odd([&] { return sign * high + sign * low; }), rounding);
  }
}

/// f16 (11 bits, exponents -14 to 15) and bfloat16 (8 bits, -126 to 127), by their bits.
template <int kPrecision, int kMost>
struct Small {
  std::uint16_t bits = 0;

  static constexpr int kFraction = kPrecision - 1;
  static constexpr int kLeast = 1 - kMost;
  static constexpr std::uint16_t kNan = 0x7fff;
  static constexpr std::uint16_t kInfinity = static_cast<std::uint16_t>((2 * kMost + 1) << kFraction);

  double value() const {
    const int exponent = (bits & 0x7fffU) >> kFraction;
    const int fraction = bits & ((1 << kFraction) - 1);
    double size = 0;
    if (exponent == 2 * kMost + 1) {
      if (fraction != 0) return not_a_number();
      size = std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      size = std::ldexp(fraction, kLeast - kFraction);
    } else {
      size = std::ldexp((1 << kFraction) + fraction, exponent - kMost - kFraction);
    }
    return (bits & 0x8000U) != 0 ? -size : size;
  }

  static Small of(double number, Rounding rounding) {
    const double value = to_format(number, kPrecision, kLeast, kMost, rounding);
    if (value != value) return {kNan};
    std::uint16_t bits = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    if (std::isinf(size)) {
      bits |= kInfinity;
    } else if (size != 0) {
      const int exponent = std::max(std::ilogb(size), kLeast);
      const int whole = static_cast<int>(std::ldexp(size, kFraction - exponent));
      bits |= static_cast<std::uint16_t>(((exponent + kMost - 1) << kFraction) + whole);
    }
    return {bits};
  }
};

}  // namespace emulated
