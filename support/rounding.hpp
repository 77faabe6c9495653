// Rounding of an exact value to a floating point format, in integer arithmetic: the same on every host.
//
// Every conversion that differs from the host's default goes through here, and so does half precision. A value is split
// into sign, exponent and significand, and put together in another format with one rounding.
#pragma once

#include <bit>
#include <cstdint>

namespace convladder::simulated {

/// The floating point rounding modifiers of PTX (PTX ISA 9.0, 6.4): .rn, .rz, .rm, .rp, .rna.
enum class Rounding : std::uint8_t { nearest_even, toward_zero, down, up, nearest_away };

/// A binary interchange format: a sign bit, an exponent with the usual bias, and fraction bits.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  int unused_bits = 0;  ///< zero bits below the fraction: TF32 is in the upper 19 bits of 32

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int smallest_exponent() const { return 1 - bias(); }  ///< of normal numbers
  constexpr std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits; }
};

inline constexpr FloatFormat kHalfFormat{5, 10};
inline constexpr FloatFormat kBfloat16Format{8, 7};
inline constexpr FloatFormat kTensorFloat32Format{8, 10, 13};
inline constexpr FloatFormat kSingleFormat{8, 23};
inline constexpr FloatFormat kDoubleFormat{11, 52};

/// A number (-1)^negative * significand * 2^(exponent - 63): the significand's leading bit is bit 63, or it is zero.
struct Unpacked {
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;
};

inline Unpacked unpack_integer(bool negative, std::uint64_t magnitude) {
  const int zeros = std::countl_zero(magnitude);
  return {negative, 63 - zeros, magnitude == 0 ? 0 : magnitude << zeros};
}

/// Splits a double, of which all smaller formats' values are some. It must be finite.
inline Unpacked unpack_double(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t significand = biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
  if (significand == 0) return {(bits >> 63) != 0, 0, 0};
  const int zeros = std::countl_zero(significand);
  return {(bits >> 63) != 0, (biased == 0 ? 1 : biased) - 1023 + 11 - zeros, significand << zeros};
}

/// Whether the magnitude grows by one unit, given the cut bits: `half` is the first of them, `rest` whether any other
/// is set.
inline bool rounds_up(Rounding rounding, bool negative, bool odd, bool half, bool rest) {
  switch (rounding) {
    case Rounding::nearest_even:
      return half && (rest || odd);
    case Rounding::nearest_away:
      return half;
    case Rounding::toward_zero:
      return false;
    case Rounding::down:
      return negative && (half || rest);
    case Rounding::up:
      return !negative && (half || rest);
  }
  return false;
}

/// The bits of the value in the format. Overflow gives infinity, or the largest number if the rounding leads there.
template <FloatFormat kFormat>
std::uint64_t pack(const Unpacked& value, Rounding rounding) {
  const std::uint64_t sign = value.negative ? std::uint64_t{1} << (kFormat.exponent_bits + kFormat.fraction_bits) : 0;
  const auto placed = [](std::uint64_t bits) { return bits << kFormat.unused_bits; };
  if (value.significand == 0) return placed(sign);
  const bool subnormal = value.exponent < kFormat.smallest_exponent();
  const int shift = 63 - kFormat.fraction_bits + (subnormal ? kFormat.smallest_exponent() - value.exponent : 0);
  std::uint64_t kept = 0;
  bool half = false;
  bool rest = true;  // for a value below half the smallest subnormal
  if (shift < 64) {
    kept = value.significand >> shift;
    half = ((value.significand >> (shift - 1)) & 1) != 0;
    rest = (value.significand & ((std::uint64_t{1} << (shift - 1)) - 1)) != 0;
  } else if (shift == 64) {
    half = true;  // the leading bit
    rest = (value.significand << 1) != 0;
  }
  // The leading bit of a normal number adds one to the exponent, and so does a carry out of the fraction.
  const int exponent = subnormal ? 0 : value.exponent + kFormat.bias() - 1;
  std::uint64_t bits = (static_cast<std::uint64_t>(exponent) << kFormat.fraction_bits) + kept;
  if (rounds_up(rounding, value.negative, (kept & 1) != 0, half, rest)) ++bits;
  if (bits >= kFormat.infinity()) {
    const bool to_infinity = rounding == Rounding::nearest_even || rounding == Rounding::nearest_away ||
                             rounding == (value.negative ? Rounding::down : Rounding::up);
    bits = to_infinity ? kFormat.infinity() : kFormat.infinity() - 1;
  }
  return placed(sign | bits);
}

/// The bits of a double in the format; NaN becomes `nan`.
template <FloatFormat kFormat>
std::uint64_t round_double(double value, Rounding rounding, std::uint64_t nan) {
  const auto magnitude = std::bit_cast<std::uint64_t>(value) & ~(std::uint64_t{1} << 63);
  constexpr std::uint64_t kInfinity = std::uint64_t{0x7ff} << 52;
  if (magnitude > kInfinity) return nan;
  if (magnitude < kInfinity) return pack<kFormat>(unpack_double(value), rounding);
  const std::uint64_t sign = value < 0 ? std::uint64_t{1} << (kFormat.exponent_bits + kFormat.fraction_bits) : 0;
  return (sign | kFormat.infinity()) << kFormat.unused_bits;
}

}  // namespace convladder::simulated
