// exp and tanh in float32 against float64, over all sizes of numbers.
#include "variants/elementary_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace convladder {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Every 601st float from 0 to infinity.
template <typename Body>
void for_many_floats(const Body& body) {
  constexpr std::uint32_t kInfinityBits = 0x7f800000U;
  for (std::uint32_t bits = 0; bits < kInfinityBits; bits += 601) body(std::bit_cast<float>(bits));
}

TEST(HyperbolicTangent, IsOffByAtMostFourUnits) {
  double worst = 0;
  for_many_floats([&](float x) {
    const float found = hyperbolic_tangent(x);
    ASSERT_LE(found, 1.0F) << x;
    ASSERT_EQ(hyperbolic_tangent(-x), -found) << x;
    if (x < std::numeric_limits<float>::min()) return;  // a denormal number has no such units
    const double expected = std::tanh(static_cast<double>(x));
    worst = std::max(worst, std::fabs(found - expected) / expected * 0x1p23);
  });
  EXPECT_LE(worst, 4.0);
  EXPECT_GT(worst, 0.1) << "nothing was compared";
}

TEST(HyperbolicTangent, HasItsLimits) {
  EXPECT_EQ(hyperbolic_tangent(kInfinity), 1.0F);
  EXPECT_EQ(hyperbolic_tangent(-kInfinity), -1.0F);
  EXPECT_EQ(hyperbolic_tangent(std::numeric_limits<float>::max()), 1.0F);
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(std::nanf(""))));
  EXPECT_TRUE(std::signbit(hyperbolic_tangent(-0.0F)));
  EXPECT_EQ(hyperbolic_tangent(0.0F), 0.0F);
}

TEST(Exponential, IsOffByWhatItsHeaderSays) {
  for_many_floats([](float x) {
    if (x > 87.0F) {
      ASSERT_EQ(exponential(-x), 0.0F) << x;
      return;
    }
    const double expected = std::exp(-static_cast<double>(x));
    ASSERT_LE(std::fabs(exponential(-x) - expected), expected * std::fmax(0x1p-22, x * 0x1p-23)) << x;
  });
  EXPECT_TRUE(std::isnan(exponential(std::nanf(""))));
}

}  // namespace
}  // namespace convladder
