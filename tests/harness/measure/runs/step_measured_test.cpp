#include "harness/measure/runs/step_measured.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convladder {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MeasuredBound, IsThePeakForAStageThatMakesAllOperations) {
  EXPECT_THAT(measured_bound(100, 99, std::nullopt), HasSubstr("At 99% of the FMA peak: little is left."));
}

TEST(MeasuredBound, IsNotThePeakForAStageThatSavesOperations) {
  const std::string text = measured_bound(100, 99, std::nullopt, 2.25);
  EXPECT_THAT(text, HasSubstr("Effective rate, by the operations of the definition: 99% of the FMA peak."));
  EXPECT_THAT(text, HasSubstr("It makes 2.25 times fewer."));
  EXPECT_THAT(text, HasSubstr("At 44% of the FMA peak, which does not bind."));
  EXPECT_THAT(text, Not(HasSubstr("little is left")));
  // What it makes may be near the peak, too, and its bytes near the memory's rate.
  EXPECT_THAT(measured_bound(100, 200, std::nullopt, 2.25), HasSubstr("At 89% of the FMA peak: little is left."));
  EXPECT_THAT(measured_bound(100, 99, 90, 2.25), HasSubstr("At 90% of the memory's rate: little is left."));
}

}  // namespace
}  // namespace convladder
