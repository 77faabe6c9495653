#include "harness/measure/statistics/stop_rule.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace convladder {
namespace {

std::string_view reason(const StopRule& rule, const std::vector<double>& samples, double seconds) {
  return rule.reason({samples, seconds});
}

TEST(StopRule, RepetitionsAreExactWhateverIntervalAndBudgetSay) {
  const auto rule = stop_rule({.repetitions = 8,
                               .target_half_width = 1,
                               .budget_seconds = 0,
                               .most = 2,
                               .repetitions_word = "repetitions",
                               .most_word = "rounds"});
  EXPECT_EQ(reason(*rule, std::vector<double>(7, 1.0), 1e9), "");
  EXPECT_EQ(reason(*rule, std::vector<double>(8, 1.0), 0), "repetitions");
}

TEST(StopRule, WithoutThemItIsTheIntervalThenTheNumberThenTheBudget) {
  const auto rule = stop_rule({.repetitions = std::nullopt,
                               .target_half_width = 0.01,
                               .budget_seconds = 2,
                               .most = 7,
                               .repetitions_word = "repetitions",
                               .most_word = "rounds"});
  const std::vector<double> apart{1, 2, 1, 2, 1, 2, 1};
  const auto first = [&](std::size_t count) { return std::vector<double>(apart.begin(), apart.begin() + long(count)); };
  EXPECT_EQ(reason(*rule, {}, 5), "");
  EXPECT_EQ(reason(*rule, first(2), 5), "") << "three samples, whatever the budget says";
  EXPECT_EQ(reason(*rule, first(3), 1.9), "");
  EXPECT_EQ(reason(*rule, first(3), 2), "budget");
  EXPECT_EQ(reason(*rule, std::vector<double>(5, 1.0), 0), "") << "no interval of five samples reaches 95%";
  EXPECT_EQ(reason(*rule, std::vector<double>(6, 1.0), 5), "interval") << "it comes first";
  EXPECT_EQ(reason(*rule, apart, 5), "rounds");
}

TEST(StopRule, TheBudgetDoesNotStopBeforeTheFewest) {
  const auto rule = stop_rule({.repetitions = std::nullopt,
                               .target_half_width = 0,
                               .budget_seconds = 1,
                               .most = 9,
                               .fewest = 5,
                               .repetitions_word = "repetitions",
                               .most_word = "rounds"});
  EXPECT_EQ(reason(*rule, {1, 2, 3, 4}, 10), "");
  EXPECT_EQ(reason(*rule, {1, 2, 3, 4, 5}, 0.9), "");
  EXPECT_EQ(reason(*rule, {1, 2, 3, 4, 5}, 1), "budget");
}

TEST(StopRule, AnotherSampleThatWouldExceedTheBudgetIsNotTaken) {
  const auto rule = stop_before_budget(10);
  EXPECT_EQ(reason(*rule, {}, 0), "") << "one is always taken";
  EXPECT_EQ(reason(*rule, {1}, 5), "") << "the next one ends exactly in time";
  EXPECT_EQ(reason(*rule, {1}, 5.1), "budget");
  EXPECT_EQ(reason(*rule, {1, 1, 1, 1}, 8), "");
  EXPECT_EQ(reason(*rule, {1, 1, 1, 1}, 8.1), "budget");
}

}  // namespace
}  // namespace convladder
