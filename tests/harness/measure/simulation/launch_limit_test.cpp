#include "harness/measure/simulation/launch_limit.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace convladder {
namespace {

TEST(LaunchLimit, AnEndlessLoopEndsWithoutAWord) {
  const simulated::LaunchLimits usual = launch_limits({}, "k");
  EXPECT_EQ(usual.operations, 0U);
  EXPECT_EQ(usual.operations_without_change, 5'000'000'000U);
  EXPECT_EQ(usual.watch({0, 4, 1000}), "");
}

TEST(LaunchLimit, WhatIsGivenTakesThePlaceOfTheUsualOnes) {
  EXPECT_EQ(launch_limits({"10G"}, "k").operations, 10'000'000'000U);
  EXPECT_EQ(launch_limits({"2.5k", "3h"}, "k").operations, 2500U);
  for (const char* const given : {"none", "10G", "30s"}) {
    EXPECT_EQ(launch_limits({given}, "k").operations_without_change, 0U) << given;
  }
  const simulated::LaunchLimits shortest = launch_limits({"0.000001ms"}, "k");
  static_cast<void>(shortest.watch({1, 4, 1000}));  // time begins here
  EXPECT_EQ(shortest.watch({1, 4, 1000}), "after 1e-09 s, with 1 of 4 blocks done");
}

TEST(LaunchLimit, NonsenseIsRefused) {
  for (const char* const given : {"", "0", "-1", "1x", "s", "nan", "inf", "0.5", "1e30", "1e9h", "3 s"}) {
    EXPECT_THROW(launch_limits({given}, "k"), UserError) << given;
  }
  EXPECT_THROW(launch_limits({"none", "1s"}, "k"), UserError);
}

}  // namespace
}  // namespace convladder
