#include "harness/measure/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "support/seeded_random.hpp"

namespace convladder {
namespace {

/// 1, 2, …, n in an order that is not sorted; then the value of an order statistic is its rank.
std::vector<double> ranks(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  SeededRandom random(1, static_cast<std::uint64_t>(n));
  shuffle(values, random);
  return values;
}

/// sum of binomial(n, i) for i < k, in whole numbers.
std::uint64_t ways_below(int n, int k) {
  std::uint64_t ways = 0;
  std::uint64_t binomial = 1;
  for (int i = 0; i < k; ++i) {
    ways += binomial;
    binomial = binomial * static_cast<std::uint64_t>(n - i) / static_cast<std::uint64_t>(i + 1);
  }
  return ways;
}

TEST(Median, IsTheMiddleSampleOrTheMeanOfTheTwo) {
  EXPECT_EQ(median(std::vector{7.0}), 7.0);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 5.0}), 5.0);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 5.0, 2.0}), 3.5);
  EXPECT_EQ(median(std::vector{1.0, 1.0, 1e300, 1.0}), 1.0);
}

TEST(Median, LeavesTheSamplesInTheirOrder) {
  const std::vector<double> samples = {3, 1, 2};
  median(samples);
  median_interval(samples);
  EXPECT_EQ(samples, (std::vector<double>{3, 1, 2}));
}

TEST(LowerQuartile, IsTheSmallestThatAQuarterDoesNotExceed) {
  const std::pair<int, double> table[] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {25, 7}, {100, 25}};
  for (const auto& [n, value] : table) EXPECT_EQ(lower_quartile(ranks(n)), value) << n;
  EXPECT_EQ(lower_quartile(std::vector<double>{9, 1, 5, 7, 3, 8}), 3);
}

TEST(LowerQuartileInterval, TakesTheRanksOfTheExactBinomial) {
  EXPECT_FALSE(lower_quartile_interval(std::vector{4.0}).has_value());
  // P(Binomial(20, 1/4) < 2) = 0.0243, < 3: 0.0913; P(>= 10) = 0.0139, >= 9: 0.0409.
  const auto interval = lower_quartile_interval(ranks(20));
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->low, 2);
  EXPECT_EQ(interval->high, 10);
  EXPECT_NEAR(interval->level, 1 - 0.024313 - 0.013864, 1e-5);
  // Of few samples the smallest may lie above it: the level says so.
  const auto few = lower_quartile_interval(ranks(5));
  EXPECT_EQ(few->low, 1);
  EXPECT_EQ(few->high, 4);
  EXPECT_NEAR(few->level, 1 - std::pow(0.75, 5) - (5 * std::pow(0.25, 4) * 0.75 + std::pow(0.25, 5)), 1e-12);
}

TEST(MedianInterval, NeedsTwoSamples) {
  EXPECT_FALSE(median_interval(std::vector<double>{}).has_value());
  EXPECT_FALSE(median_interval(std::vector{4.0}).has_value());
  EXPECT_TRUE(median_interval(std::vector{4.0, 5.0}).has_value());
}

TEST(MedianInterval, OfSixSamplesIsTheirRange) {
  const auto interval = median_interval(std::vector<double>{30, 10, 60, 20, 50, 40});
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->low, 10);
  EXPECT_EQ(interval->high, 60);
  EXPECT_NEAR(interval->level, 0.96875, 1e-12);
}

TEST(MedianInterval, OfTooFewSamplesIsTheirRangeWithTheLevelThatHas) {
  for (int n = 2; n <= 5; ++n) {
    const auto interval = median_interval(ranks(n));
    EXPECT_EQ(interval->low, 1);
    EXPECT_EQ(interval->high, n);
    EXPECT_NEAR(interval->level, 1 - std::exp2(1 - n), 1e-12);
  }
}

TEST(MedianInterval, TakesTheRanksOfPublishedTables) {
  // Ranks of the 95% interval of the median, as tabulated for the sign test.
  const std::pair<int, int> table[] = {{8, 1}, {9, 2}, {11, 2}, {12, 3}, {15, 4}, {17, 5}, {20, 6}, {25, 8}, {30, 10}};
  for (const auto& [n, rank] : table) {
    const auto interval = median_interval(ranks(n));
    EXPECT_EQ(interval->low, rank) << n;
    EXPECT_EQ(interval->high, n + 1 - rank) << n;
  }
}

TEST(MedianInterval, IsTheNarrowestThatReachesTheLevelByExactBinomials) {
  for (const int percent : {50, 90, 95, 99}) {
    for (int n = 2; n <= 40; ++n) {
      // The largest k with 2 * ways_below(n, k) / 2^n <= 1 - level, all of it in whole numbers.
      const std::uint64_t all = std::uint64_t{1} << n;
      int k = 1;
      while (2 * (k + 1) <= n && 2 * ways_below(n, k + 1) * 100 <= all * static_cast<std::uint64_t>(100 - percent)) ++k;
      const auto interval = median_interval(ranks(n), percent / 100.0);
      ASSERT_TRUE(interval.has_value());
      EXPECT_EQ(interval->low, k) << "n " << n << ", level " << percent << "%";
      EXPECT_EQ(interval->high, n + 1 - k) << "n " << n << ", level " << percent << "%";
      const double level = 1 - 2 * static_cast<double>(ways_below(n, k)) / static_cast<double>(all);
      EXPECT_NEAR(interval->level, level, 1e-12) << "n " << n << ", level " << percent << "%";
    }
  }
}

TEST(MedianInterval, OfThousandsOfSamplesDoesNotUnderflow) {
  for (const int n : {1000, 1100, 5000, 20001}) {
    const auto interval = median_interval(ranks(n));
    // The normal approximation: n / 2 -+ 1.96 * sqrt(n) / 2.
    EXPECT_NEAR(interval->low, n / 2.0 - 0.98 * std::sqrt(n), 1.5) << n;
    EXPECT_NEAR(interval->low + interval->high, n + 1, 1e-9) << n;
    EXPECT_GE(interval->level, 0.95) << n;
    EXPECT_LE(interval->level, 0.96) << n;
  }
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  // A skewed distribution of median ln 2, from a fixed seed.
  SeededRandom random(20, 0);
  for (const int n : {6, 10, 25, 60}) {
    constexpr int kTrials = 4000;
    int covered = 0;
    double level = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples(static_cast<std::size_t>(n));
      for (double& sample : samples) sample = -std::log((static_cast<double>(random.next() >> 11) + 1) * 0x1p-53);
      const auto interval = median_interval(samples);
      level = interval->level;
      if (interval->low <= std::log(2.0) && std::log(2.0) <= interval->high) ++covered;
    }
    // Four standard deviations.
    const double deviation = std::sqrt(level * (1 - level) / kTrials);
    EXPECT_NEAR(static_cast<double>(covered) / kTrials, level, 4 * deviation) << n;
  }
}

TEST(MedianInterval, OfEqualSamplesHasNoWidth) {
  const auto interval = median_interval(std::vector<double>(10, 3.25));
  EXPECT_EQ(interval->low, 3.25);
  EXPECT_EQ(interval->high, 3.25);
}

TEST(ProportionInterval, IsWilsons) {
  // Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I, method 3.
  const auto expect_interval = [](int successes, int trials, double low, double high) {
    const ProportionInterval interval = proportion_interval(successes, trials);
    EXPECT_NEAR(interval.low, low, 5e-5) << successes << " of " << trials;
    EXPECT_NEAR(interval.high, high, 5e-5) << successes << " of " << trials;
  };
  expect_interval(81, 263, 0.2553, 0.3662);
  expect_interval(15, 148, 0.0624, 0.1605);
  expect_interval(0, 20, 0.0, 0.1611);
  expect_interval(1, 29, 0.0061, 0.1718);
  expect_interval(20, 20, 1 - 0.1611, 1.0);
}

TEST(ProportionInterval, HoldsTheProportion) {
  for (int trials = 1; trials <= 200; ++trials) {
    for (const int successes : {0, 1, trials / 2, trials - 1, trials}) {
      const ProportionInterval interval = proportion_interval(successes, trials);
      const double share = static_cast<double>(successes) / trials;
      EXPECT_LE(interval.low, share) << successes << " of " << trials;
      EXPECT_GE(interval.high, share) << successes << " of " << trials;
    }
  }
}

}  // namespace
}  // namespace convladder
