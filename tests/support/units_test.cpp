#include "support/units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace convladder {
namespace {

TEST(TimeText, HasThreeDigitsInTheUnitThatSuits) {
  EXPECT_EQ(time_text(847), "847 ns");
  EXPECT_EQ(time_text(12345), "12.3 µs");
  EXPECT_EQ(time_text(4.56e6), "4.56 ms");
  EXPECT_EQ(time_text(1.234e9), "1.23 s");
  EXPECT_EQ(time_text(0.5), "0.50 ns");
  EXPECT_EQ(time_text(61.7e9), "61.7 s");
  EXPECT_EQ(time_text(1234e9), "1234 s");
}

TEST(TimeText, ChangesTheUnitBeforeItWouldShowAThousand) {
  EXPECT_EQ(time_text(999.4), "999 ns");
  EXPECT_EQ(time_text(999.6), "1.00 µs");
  EXPECT_EQ(time_text(999.4e3), "999 µs");
  EXPECT_EQ(time_text(999.6e3), "1.00 ms");
  EXPECT_EQ(time_text(999.6e6), "1.00 s");
}

TEST(TimeText, DoesNotGainADigitByRounding) {
  EXPECT_EQ(time_text(9.996), "10.0 ns");
  EXPECT_EQ(time_text(99.96), "100 ns");
  EXPECT_EQ(time_text(9.994e6), "9.99 ms");
  EXPECT_EQ(time_text(9.996e6), "10.0 ms");
  EXPECT_EQ(time_text(99.96e9), "100 s");
}

TEST(TimeText, HasThreeDigitsEverywhere) {
  for (double nanoseconds = 1; nanoseconds < 9e11; nanoseconds *= 1.0137) {
    const std::string text = time_text(nanoseconds);
    const auto digits = std::ranges::count_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    EXPECT_EQ(digits, 3) << text;
  }
}

}  // namespace
}  // namespace convladder
