#include "harness/judge/duel/selftest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace convladder {
namespace {

SelftestResult runs(int percent, int regressed, int passed) {
  SelftestResult result;
  for (int i = 0; i < regressed + passed; ++i) {
    SelftestRun run{.extra_percent = percent, .seed = 1, .contaminated = false, .duel = {}};
    run.duel.verdict = i < regressed ? CaseVerdict::regressed : CaseVerdict::pass;
    result.runs.push_back(run);
  }
  return result;
}

SelftestLevel level(int percent, int regressed, int passed) { return runs(percent, regressed, passed).levels().at(0); }

TEST(ExactProportionBounds, AreThoseOfClopperAndPearson) {
  // 1 - 0.05^(1/n) with no success; both sides of 5 in 20 as in printed tables of 95 % one-sided bounds.
  EXPECT_NEAR(exact_proportion_bounds(0, 299).high, 1 - std::pow(0.05, 1.0 / 299), 1e-9);
  EXPECT_LE(exact_proportion_bounds(0, 299).high, 0.01);
  EXPECT_GT(exact_proportion_bounds(0, 298).high, 0.01);
  EXPECT_EQ(exact_proportion_bounds(0, 10).low, 0);
  EXPECT_NEAR(exact_proportion_bounds(59, 59).low, std::pow(0.05, 1.0 / 59), 1e-9);
  EXPECT_GE(exact_proportion_bounds(59, 59).low, 0.95);
  EXPECT_LT(exact_proportion_bounds(58, 58).low, 0.95);
  EXPECT_EQ(exact_proportion_bounds(59, 59).high, 1);
  EXPECT_NEAR(exact_proportion_bounds(5, 20).low, 0.1041, 1e-4);
  EXPECT_NEAR(exact_proportion_bounds(5, 20).high, 0.4556, 1e-4);
}

TEST(Selftest, CountsByExtraWork) {
  SelftestResult result = runs(5, 3, 1);
  std::ranges::copy(runs(0, 0, 2).runs, std::back_inserter(result.runs));
  result.runs.back().contaminated = true;
  const std::vector<SelftestLevel> levels = result.levels();
  ASSERT_EQ(levels.size(), 2);
  EXPECT_EQ(levels[0].extra_percent, 0);
  EXPECT_EQ(levels[0].passed, 2);
  EXPECT_EQ(levels[0].contaminated, 1);
  EXPECT_EQ(levels[1].regressed, 3);
  EXPECT_EQ(levels[1].runs, 4);
}

TEST(Selftest, ClaimsAreShownRefutedOrOpen) {
  EXPECT_EQ(few_false_alarms(level(0, 0, 300), 0.01), Claim::shown);
  EXPECT_EQ(few_false_alarms(level(0, 0, 60), 0.01), Claim::open);
  EXPECT_EQ(few_false_alarms(level(0, 2, 298), 0.01), Claim::open);
  EXPECT_EQ(few_false_alarms(level(0, 5, 55), 0.01), Claim::refuted);
  EXPECT_EQ(finds(level(5, 59, 0)), Claim::shown);
  EXPECT_EQ(finds(level(5, 56, 3)), Claim::shown);
  EXPECT_EQ(finds(level(5, 55, 4)), Claim::open);
  EXPECT_EQ(finds(level(5, 12, 0)), Claim::open);
  EXPECT_EQ(finds(level(5, 30, 29)), Claim::refuted);
}

TEST(Selftest, OrderHoldsEveryLevelAsOftenAsAskedFor) {
  const std::vector<std::pair<int, int>> wanted = {{0, 30}, {5, 10}};
  const std::vector<int> order = selftest_order(wanted, 1);
  EXPECT_EQ(order.size(), 40);
  EXPECT_EQ(std::ranges::count(order, 5), 10);
  EXPECT_EQ(order, selftest_order(wanted, 1));
  EXPECT_NE(order, selftest_order(wanted, 2));
  EXPECT_FALSE(std::ranges::is_sorted(order));
}

}  // namespace
}  // namespace convladder
