// The floating point types of 8 bits and less (PTX ISA 9.0, 5.2.3): e4m3, e5m2, e2m3, e3m2, e2m1.
//
// They are in the lower bits of their byte, or in half a byte. Every value is a double; rounding is to nearest even and
// stays finite, as in conversions to these types.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace convladder::simulated {

struct NarrowFormat {
  enum class Specials : std::uint8_t { infinity_and_nan, nan, none };

  const char* suffix;
  int exponent_bits;
  int fraction_bits;
  Specials specials;

  constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr unsigned sign() const { return 1U << (bits() - 1); }
  /// The bits of the largest magnitude.
  constexpr unsigned most() const {
    if (specials == Specials::none) return sign() - 1;
    return specials == Specials::nan ? sign() - 2 : sign() - (1U << fraction_bits) - 1;
  }
  /// The bits of NaN: all bits below the sign, or the largest number in formats without NaN.
  constexpr unsigned nan() const { return sign() - 1; }
};

inline constexpr NarrowFormat kFloat8E4M3{"e4m3", 4, 3, NarrowFormat::Specials::nan};
inline constexpr NarrowFormat kFloat8E5M2{"e5m2", 5, 2, NarrowFormat::Specials::infinity_and_nan};
inline constexpr NarrowFormat kFloat6E2M3{"e2m3", 2, 3, NarrowFormat::Specials::none};
inline constexpr NarrowFormat kFloat6E3M2{"e3m2", 3, 2, NarrowFormat::Specials::none};
inline constexpr NarrowFormat kFloat4E2M1{"e2m1", 2, 1, NarrowFormat::Specials::none};

/// The value of the bits, exactly. Bits above the format's are ignored.
inline double narrow_value(const NarrowFormat& format, unsigned bits) {
  const unsigned magnitude = bits & (format.sign() - 1);
  const bool negative = (bits & format.sign()) != 0;
  const auto fraction = static_cast<int>(magnitude & ((1U << format.fraction_bits) - 1));
  const auto exponent = static_cast<int>(magnitude >> format.fraction_bits);
  double value = 0;
  if (magnitude <= format.most()) {
    const int significand = exponent == 0 ? fraction : fraction + (1 << format.fraction_bits);
    value = std::ldexp(significand, std::max(exponent, 1) - format.bias() - format.fraction_bits);
  } else {
    const bool infinite = format.specials == NarrowFormat::Specials::infinity_and_nan && fraction == 0;
    value = infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return negative ? -value : value;
}

/// The bits of the nearest number: the largest one for a value beyond it (.satfinite), NaN for NaN.
inline unsigned narrow_bits(const NarrowFormat& format, double value) {
  if (value != value) return format.nan();
  const unsigned sign = std::signbit(value) ? format.sign() : 0;
  const double magnitude = std::abs(value);
  if (magnitude > narrow_value(format, format.most())) return sign | format.most();
  const int exponent = magnitude == 0 ? 0 : std::max(std::ilogb(magnitude), 1 - format.bias());
  const int scale = format.fraction_bits - exponent;
  const double places = std::nearbyint(std::ldexp(magnitude, scale));  // in units of the last place
  // The leading bit of a normal number adds one to the exponent, and so does a carry out of the fraction.
  const int biased = magnitude == 0 ? 0 : exponent + format.bias() - 1;
  const auto bits = static_cast<unsigned>((biased << format.fraction_bits) + static_cast<int>(places));
  return sign | std::min(bits, format.most());
}

}  // namespace convladder::simulated
