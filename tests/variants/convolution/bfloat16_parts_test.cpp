// Three bf16 numbers whose sum is a float, exactly.
#include "variants/convolution/cpu/bfloat16_parts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/half.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

double value(std::uint16_t part) { return std::bit_cast<float>(std::uint32_t{part} << 16U); }

bool is_denormal(std::uint16_t part) { return (part & 0x7f80U) == 0 && (part & 0x7fU) != 0; }

/// All bits random, but the exponent.
float random_float(SeededRandom& random, int exponent) {
  const auto fraction = static_cast<std::uint32_t>(random.next()) & 0x807fffffU;
  return std::bit_cast<float>(fraction | static_cast<std::uint32_t>(exponent + 127) << 23U);
}

TEST(Bfloat16Parts, AddUpToTheFloat) {
  SeededRandom random(7, 0);
  for (int exponent = -103; exponent <= 127; ++exponent) {
    for (int i = 0; i < 500; ++i) {
      const float number = random_float(random, exponent);
      const Bfloat16Parts parts = bfloat16_parts(number);
      // Exact in double: no two parts are farther than 24 bits apart.
      ASSERT_EQ(value(parts.high) + value(parts.middle) + value(parts.low), double{number}) << number;
      const double size = std::abs(double{number});
      const double more = size > 0x1.fep127 ? 2 : 1;  // cut off, not rounded
      ASSERT_LE(std::abs(value(parts.middle)), more * 0x1p-8 * size) << number;
      ASSERT_LE(std::abs(value(parts.low)), more * 0x1p-16 * size) << number;
      ASSERT_FALSE(is_denormal(parts.middle) || is_denormal(parts.low)) << number << ": a tile takes these as zero";
    }
  }
}

TEST(Bfloat16Parts, BeginWithTheNearest) {
  SeededRandom random(8, 0);
  for (int i = 0; i < 20000; ++i) {
    const float number = random_float(random, random.between(-126, 126));
    const auto nearest = simulated::round_to<simulated::Bfloat16>(number);
    ASSERT_EQ(bfloat16_parts(number).high, nearest.bits) << number;
  }
  // Halfway between two: to the even one.
  EXPECT_EQ(bfloat16_parts(0x1.01p0F).high, 0x3f80U);
  EXPECT_EQ(bfloat16_parts(0x1.03p0F).high, 0x3f82U);
  EXPECT_EQ(bfloat16_parts(-0x1.03p0F).high, 0xbf82U);
}

TEST(Bfloat16Parts, OfTheLargestAreFinite) {
  for (const float number : {std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(), 0x1.ff0002p127F,
                             0x1.ffp127F, 0x1.fefffep127F, 0x1.fep127F}) {
    const Bfloat16Parts parts = bfloat16_parts(number);
    EXPECT_TRUE(std::isfinite(value(parts.high))) << number;
    EXPECT_EQ(value(parts.high) + value(parts.middle) + value(parts.low), double{number});
  }
}

TEST(Bfloat16Parts, OfNoNumbersAreNone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float number : {kInfinity, -kInfinity}) {
    const Bfloat16Parts parts = bfloat16_parts(number);
    EXPECT_EQ(value(parts.high), number);
    EXPECT_EQ(parts.middle, 0U);
    EXPECT_EQ(parts.low, 0U);
  }
  // Also one whose upper half alone would be an infinity, and one that rounding would carry over.
  for (const std::uint32_t bits : {0x7f800001U, 0xff800001U, 0x7fffffffU, 0xffffffffU, 0x7fc00000U}) {
    const Bfloat16Parts parts = bfloat16_parts(std::bit_cast<float>(bits));
    EXPECT_TRUE(std::isnan(value(parts.high))) << bits;
    EXPECT_EQ(parts.middle | parts.low, 0U) << bits;
  }
}

TEST(Bfloat16Parts, OfZeroAreZeros) {
  EXPECT_EQ(bfloat16_parts(0.0F).high, 0U);
  EXPECT_EQ(bfloat16_parts(-0.0F).high, 0x8000U);
  EXPECT_EQ(bfloat16_parts(-0.0F).middle, 0U);
  EXPECT_EQ(bfloat16_parts(-0.0F).low, 0U);
}

// What a tile does not see of it is below 2^-126.
TEST(Bfloat16Parts, OfTinyNumbersLoseLittle) {
  SeededRandom random(9, 0);
  for (int i = 0; i < 20000; ++i) {
    const float number = random_float(random, random.between(-126, -104));
    const Bfloat16Parts parts = bfloat16_parts(number);
    double seen = 0;
    for (const std::uint32_t part : {parts.high, parts.middle, parts.low}) seen += is_denormal(part) ? 0 : value(part);
    ASSERT_LE(std::abs(seen - double{number}), 2 * 0x1p-126) << number;
  }
}

}  // namespace
}  // namespace convladder
