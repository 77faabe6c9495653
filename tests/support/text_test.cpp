#include "support/text.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "expect_error.hpp"

namespace convladder {
namespace {

TEST(WholeNumber, ReadsNumbersOfTheRangeWithBothEnds) {
  EXPECT_EQ(parse_whole_number("--batch", "1", 1, 100), 1);
  EXPECT_EQ(parse_whole_number("--batch", "100", 1, 100), 100);
  EXPECT_EQ(parse_whole_number("--batch", "0", 0, 9), 0);
  EXPECT_EQ(parse_whole_number("--batch", "007", 0, 9), 7);
  EXPECT_EQ(parse_whole_number("--batch", "2147483647", 0, std::numeric_limits<int>::max()), 2147483647);
}

TEST(WholeNumber, RefusesEverythingElseAndSaysWhatItGot) {
  for (const char* text : {"", " ", "0", "101", "-1", "-0", "+1", " 1", "1 ", "1.0", "1e2", "0x10", "one", "1,2", "1k",
                           "2147483648", "99999999999999999999"}) {
    expect_error<UserError>([&] { parse_whole_number("--batch", text, 1, 100); },
                            {"--batch: expected a whole number from 1 to 100", std::string("got '") + text + "'"});
  }
}

TEST(WholeNumber, TakesNoSignEvenOfNothing) {
  for (const char* text : {"-0", "+0"}) {
    expect_error<UserError>([&] { parse_whole_number("--shape", text, 0, 9); }, {"--shape", text});
  }
}

}  // namespace
}  // namespace convladder
