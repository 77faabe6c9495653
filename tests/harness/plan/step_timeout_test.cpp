#include "harness/plan/step_timeout.hpp"

#include <gtest/gtest.h>

namespace convladder {
namespace {

TEST(StepTimeout, GrowsWithTheWorkUnlessItIsGiven) {
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, 0.02e9, true), 60 + 5 * 0.02);
  EXPECT_DOUBLE_EQ(step_timeout_seconds(std::nullopt, 0.02e9, false), 10 * (60 + 5 * 0.02));
  EXPECT_EQ(step_timeout_seconds(0.1, 1e12, false), 0.1);
}

}  // namespace
}  // namespace convladder
