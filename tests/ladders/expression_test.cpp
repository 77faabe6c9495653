#include "ladders/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace convladder {
namespace {

const std::vector<std::string> kNames{"M", "N", "OH"};

double value_of(const std::string& text) { return Expression(text, kNames).value(std::vector<double>{6, 4, 3}); }

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(Expression(text, kNames));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(LadderExpression, ComputesAsMathematicsDoes) {
  EXPECT_EQ(value_of("2 * M * N"), 48);
  EXPECT_EQ(value_of("M + N * OH"), 18);
  EXPECT_EQ(value_of("(M + N) * OH"), 30);
  EXPECT_EQ(value_of("M - N - OH"), -1);
  EXPECT_EQ(value_of("M / N / OH"), 0.5);
  EXPECT_EQ(value_of("-2 ^ 2"), -4);
  EXPECT_EQ(value_of("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(value_of("2 ^ -1"), 0.5);
  EXPECT_EQ(value_of("M--N"), 10);
  EXPECT_EQ(value_of("1e3*M"), 6000);
  EXPECT_EQ(value_of(".5"), 0.5);
}

TEST(LadderExpression, KnowsFunctions) {
  EXPECT_EQ(value_of("div(M, N)"), 1);
  EXPECT_EQ(value_of("div(0 - M, N)"), -2);
  EXPECT_EQ(value_of("ceil(M / N) + floor(M / N)"), 3);
  EXPECT_EQ(value_of("min(M, N) + 10 * max(M, N)"), 64);
  EXPECT_EQ(value_of("log2(M + 2) * sqrt(N)"), 6);
}

TEST(LadderExpression, HasNoValueWhereMathematicsHasNone) {
  EXPECT_FALSE(std::isfinite(value_of("1 / (M - 6)")));
  EXPECT_FALSE(std::isfinite(value_of("sqrt(0 - M)")));
  EXPECT_FALSE(std::isfinite(value_of("9 ^ 9 ^ 9")));
}

TEST(LadderExpression, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of(""), "expected a number, a dimension or '(' at column 1 of ''");
  EXPECT_EQ(error_of("2 * * M"), "expected a number, a dimension or '(' at column 5 of '2 * * M'");
  EXPECT_EQ(error_of("2 M"), "expected an operator at column 3 of '2 M'");
  EXPECT_EQ(error_of("(M"), "expected ')' at column 3 of '(M'");
  EXPECT_EQ(error_of("min(M)"), "expected ',' at column 6 of 'min(M)'");
  EXPECT_THAT(error_of("2 * K"), testing::StartsWith("unknown name 'K'; known: M, N, OH at column 5"));
  EXPECT_THAT(error_of(std::string(5000, '(')), testing::StartsWith("longer than 1000 characters"));
  EXPECT_THAT(error_of(std::string(900, '(')), testing::StartsWith("more than 50 levels"));
  EXPECT_THAT(error_of(std::string(900, '-')), testing::StartsWith("more than 50 levels"));
}

}  // namespace
}  // namespace convladder
