// A float as a sum of bf16 numbers: the form in which a matrix unit for bf16 can multiply floats.
#pragma once

#include <bit>
#include <cstdint>

namespace convladder {

/// The upper half of the float with these bits, rounded to nearest even: a bf16 number. A finite number that would
/// round to infinity is truncated instead, so that it stays finite. Infinity stays infinity, and NaN stays NaN.
[[gnu::always_inline]] inline std::uint32_t nearest_bfloat16(std::uint32_t bits) {
  constexpr std::uint32_t kInfinity = 0x7f800000;
  constexpr std::uint32_t kRoundsToInfinity = 0x7f7f8000;
  constexpr std::uint32_t kQuiet = 0x00400000;  // this bit keeps the upper half of a NaN a NaN
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t rounded = bits + 0x7fffU + (bits >> 16U & 1U);
  const std::uint32_t cut = magnitude > kInfinity ? bits | kQuiet : bits;
  return (magnitude >= kRoundsToInfinity ? cut : rounded) >> 16U;
}

/// value = high + middle + low, exactly, from 2^-103 on: a float has 24 bits, and each part takes eight of them.
/// |middle| <= 2^-8 |value| and |low| <= 2^-16 |value|; twice that beyond the largest bf16 number. A smaller value
/// loses parts below 2^-126, which a tile instruction takes as zero. For an infinity or NaN, middle and low are zero.
struct Bfloat16Parts {
  static constexpr int kCount = 3;
  std::uint32_t high;  ///< 16 bits, like the other parts; in words, so that loops over floats stay in lanes of 32 bits
  std::uint32_t middle;
  std::uint32_t low;
};

[[gnu::always_inline]] inline Bfloat16Parts bfloat16_parts(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_finite = (bits & 0x7fffffffU) < 0x7f800000U;
  const std::uint32_t high = nearest_bfloat16(bits);
  const float rest = value - std::bit_cast<float>(high << 16U);  // subtracted in any case, so that vectors can do it
  const float without_high = is_finite ? rest : 0.0F;
  const std::uint32_t middle = nearest_bfloat16(std::bit_cast<std::uint32_t>(without_high));
  const float without_middle = without_high - std::bit_cast<float>(middle << 16U);
  const std::uint32_t low = nearest_bfloat16(std::bit_cast<std::uint32_t>(without_middle));
  return {high, middle, low};
}

/// Which of the products of floats that are cut into bf16 parts are computed: which parts of weights and pixels are
/// multiplied. The value is the number of products.
enum class PartProducts {
  three = 3,  ///< high x high, and high x middle both ways
  six = 6,    ///< also middle x middle, and high x low both ways
};

/// The number of parts of each float that these products need.
constexpr int part_count(PartProducts products) { return products == PartProducts::six ? 3 : 2; }

}  // namespace convladder
