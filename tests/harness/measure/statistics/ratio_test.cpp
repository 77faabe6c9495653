#include "harness/measure/statistics/ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "harness/measure/statistics/ratio_text.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/seeded_random.hpp"
#include "tests/harness/noisy_trace.hpp"

namespace convladder {
namespace {

/// Two times of so many rounds.
struct TwoSeries {
  std::vector<double> over;
  std::vector<double> under;
};
using Machine = std::function<TwoSeries(std::size_t rounds, SeededRandom&)>;

/// Each sample has its own noise of so many per cent.
TwoSeries independent(std::size_t rounds, SeededRandom& random) {
  TwoSeries two;
  for (std::size_t i = 0; i < rounds; ++i) {
    two.over.push_back(300 * std::exp(0.02 * normal(random)));
    two.under.push_back(100 * std::exp(0.02 * normal(random)));
  }
  return two;
}

/// The machine becomes up to 1.5 times slower and faster again, which both notice alike.
TwoSeries drifting(std::size_t rounds, SeededRandom& random) {
  TwoSeries two = independent(rounds, random);
  const double phase = 2 * std::numbers::pi * uniform(random);
  for (std::size_t i = 0; i < rounds; ++i) {
    const double slow = std::exp(0.2 * std::sin(phase + 6.0 * static_cast<double>(i) / static_cast<double>(rounds)));
    two.over[i] *= slow;
    two.under[i] *= slow;
  }
  return two;
}

/// Bursts of some rounds in which only one of the two is slowed down, by a third on average.
TwoSeries in_bursts(std::size_t rounds, SeededRandom& random) {
  TwoSeries two = independent(rounds, random);
  for (std::vector<double>* const one : {&two.over, &two.under}) {
    int left = 0;
    for (double& sample : *one) {
      if (left == 0 && uniform(random) < 0.05) left = random.between(1, 8);
      if (left == 0) continue;
      sample *= std::exp(-0.3 * std::log(uniform(random)));
      --left;
    }
  }
  return two;
}

/// Noise that is half of what it was in the round before.
TwoSeries correlated(std::size_t rounds, SeededRandom& random) {
  TwoSeries two;
  double state = normal(random);
  for (std::size_t i = 0; i < rounds; ++i) {
    state = 0.5 * state + std::sqrt(0.75) * normal(random);
    two.over.push_back(300 * std::exp(0.02 * state));
    two.under.push_back(100);
  }
  return two;
}

/// How often the interval holds the true ratio, which is 3.
double ratio_coverage(const Machine& machine, std::size_t rounds, std::uint64_t stream) {
  constexpr int kTrials = 1000;
  SeededRandom random(11, stream);
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const TwoSeries two = machine(rounds, random);
    const std::optional<LogInterval> logs = paired_log_ratio(two.over, two.under, kRatioLevel);
    const Ratio ratio = ratio_by_rounds(median(two.over) / median(two.under), *logs);
    EXPECT_LE(*ratio.low, ratio.value);
    EXPECT_LE(ratio.value, *ratio.high);
    held += ratio.holds(3) ? 1 : 0;
  }
  return static_cast<double>(held) / kTrials;
}

TEST(Ratio, ItsIntervalHoldsTheTruthAsOftenAsItSays) {
  constexpr double kByChance = 0.02;  // three standard deviations of 1000 trials
  for (const std::size_t rounds : {3U, 6U, 12U, 30U, 100U}) {
    EXPECT_GE(ratio_coverage(independent, rounds, rounds), kRatioLevel - kByChance)
        << rounds << " rounds, independent noise";
    EXPECT_GE(ratio_coverage(drifting, rounds, rounds), kRatioLevel - kByChance) << rounds << " rounds, drift";
    EXPECT_GE(ratio_coverage(in_bursts, rounds, rounds), kRatioLevel - kByChance) << rounds << " rounds, bursts";
  }
  // Neighbours that depend on each other need blocks that are longer than the dependence. docs/how/measuring.md
  EXPECT_GE(ratio_coverage(correlated, 12, 1), 0.88);
  EXPECT_GE(ratio_coverage(correlated, 40, 2), 0.93);
  EXPECT_GE(ratio_coverage(correlated, 100, 3), 0.93);
}

TEST(Ratio, OrderStatisticsAloneAreTooNarrowWhereNeighboursDependOnEachOther) {
  SeededRandom random(11, 9);
  int held = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const TwoSeries two = correlated(40, random);
    std::vector<double> logs;
    for (const double one : two.over) logs.push_back(std::log(one / 300));
    const auto interval = median_interval(logs);
    held += interval->low <= 0 && 0 <= interval->high ? 1 : 0;
  }
  EXPECT_LT(held, 500 * 0.9) << "then the blocks would not be needed";
}

TEST(Ratio, WhatSlowsBothInARoundIsNotInTheirRatio) {
  std::vector<double> over;
  std::vector<double> under;
  for (int round = 0; round < 20; ++round) {
    const double slow = round % 2 == 0 ? 2 : 1;
    over.push_back(300 * slow);
    under.push_back(100 * slow);
  }
  under.push_back(1e9);  // a round of its own
  const auto logs = paired_log_ratio(over, under, kRatioLevel);
  ASSERT_TRUE(logs);
  EXPECT_EQ(logs->level, kRatioLevel);
  EXPECT_NEAR(std::exp(logs->low), 3, 1e-12);
  EXPECT_NEAR(std::exp(logs->high), 3, 1e-12);
  const Ratio wider = ratio_by_rounds(3.5, *logs);
  EXPECT_EQ(wider.high, 3.5) << "the value that a table shows lies in it";
}

TEST(Ratio, OfOneRoundHasNoInterval) {
  EXPECT_FALSE(paired_log_ratio({}, std::vector<double>{1.0}, kRatioLevel));
  const auto one = paired_log_ratio(std::vector<double>{2.0}, std::vector<double>{1.0}, kRatioLevel);
  ASSERT_TRUE(one);
  const Ratio ratio = ratio_by_rounds(2, *one);
  EXPECT_FALSE(ratio.low);
  EXPECT_TRUE(ratio.holds(1)) << "nothing can be told";
  EXPECT_FALSE(ratio.is_above(1));
  EXPECT_FALSE(ratio.is_known());
  const auto three = paired_log_ratio(std::vector<double>{2, 4, 8}, std::vector<double>{1, 1, 1}, kRatioLevel);
  EXPECT_LT(std::exp(three->low), 2) << "three samples are few";
  EXPECT_GT(std::exp(three->high), 8);
}

TEST(Ratio, OfMediansTakesBothIntervalsAtTheirWorst) {
  const Ratio ratio = *ratio_by_medians({.value = 8, .low = 7, .high = 9, .level = 0.975},
                                        {.value = 2, .low = 1, .high = 4, .level = 0.975});
  EXPECT_EQ(ratio.value, 4);
  EXPECT_EQ(ratio.low, 7.0 / 4);
  EXPECT_EQ(ratio.high, 9.0);
  EXPECT_NEAR(*ratio.level, 0.95, 1e-12);
  EXPECT_EQ(ratio.by, RatioBy::medians);
  EXPECT_FALSE(ratio.is_known()) << "9 is more than twice 1.75";
  EXPECT_FALSE(ratio_by_medians({.value = 8}, {.value = 2, .low = 1, .high = 4})->low);
  EXPECT_FALSE(ratio_by_medians({.value = 8}, {.value = 0}));
}

TEST(Ratio, OfRangesComparesEndWithEnd) {
  const Ratio ratio = ratio_by_ranges(10, 40, 5, 10);
  EXPECT_EQ(ratio.low, 2.0);
  EXPECT_EQ(ratio.high, 4.0);
  EXPECT_NEAR(ratio.value, std::sqrt(8), 1e-12);
  const Ratio crossed = ratio_by_ranges(10, 20, 5, 40);
  EXPECT_EQ(crossed.low, 0.5);
  EXPECT_EQ(crossed.high, 2.0);
  EXPECT_TRUE(crossed.holds(1));
}

TEST(Ratio, OfCountsIsExact) {
  const Ratio ratio = *ratio_by_counts(6, 4);
  EXPECT_EQ(ratio.low, 1.5);
  EXPECT_EQ(ratio.high, 1.5);
  EXPECT_FALSE(ratio_by_counts(std::nullopt, 4));
  EXPECT_FALSE(ratio_by_counts(6, 0));
}

TEST(Ratio, ScalesAndWidensAllOfItself) {
  const Ratio percent = Ratio{.value = 0.5, .low = 0.4, .high = 0.8}.times(100);
  EXPECT_EQ(percent.value, 50);
  EXPECT_EQ(percent.low, 40.0);
  EXPECT_EQ(percent.high, 80.0);
  EXPECT_NEAR(*percent.half_width(), 0.4, 1e-12);
  EXPECT_NEAR(*percent.from_run_to_run().low, 40 * (1 - kFromRunToRun), 1e-12);
  EXPECT_NEAR(*percent.from_run_to_run().high, 80 * (1 + kFromRunToRun), 1e-12);
  EXPECT_EQ(percent.from_run_to_run().value, 50);
}

TEST(Ratio, StudentsQuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(1, 0.95), 12.7062, 1e-4);
  EXPECT_NEAR(student_quantile(2, 0.95), 4.3027, 1e-4);
  EXPECT_NEAR(student_quantile(3, 0.95), 3.1824, 1e-4);
  EXPECT_NEAR(student_quantile(4, 0.95), 2.7764, 1e-4);
  EXPECT_NEAR(student_quantile(9, 0.99), 3.2498, 1e-4);
  EXPECT_NEAR(student_quantile(30, 0.9), 1.6973, 1e-4);
}

Ratio from_to(double value, double low, double high) { return {.value = value, .low = low, .high = high}; }

TEST(RatioText, ShowsNoDigitThatIsNotKnown) {
  EXPECT_EQ(known_number(from_to(3.841, 3.80, 3.88)), "3.84");
  EXPECT_EQ(known_number(from_to(3.841, 3.5, 4.1)), "3.8");
  EXPECT_EQ(known_number(from_to(3.841, 2.5, 6)), "4");
  EXPECT_EQ(known_number(from_to(384.1, 300, 400)), "380");
  EXPECT_EQ(known_number(from_to(0.3512, 0.35, 0.36)), "0.351");
  EXPECT_EQ(known_number(from_to(3.841, 3.8409, 3.8411)), "3.84") << "three digits at most";
  EXPECT_EQ(known_number(from_to(2, 2, 2)), "2.00");
  EXPECT_EQ(known_number({.value = 3.841}), "~3.8") << "roughly: nothing is known of its noise";
}

TEST(RatioText, SaysWhatCannotBeToldFromOne) {
  EXPECT_EQ(ratio_text(from_to(1.02, 0.99, 1.05)), "~1");
  EXPECT_EQ(ratio_text(from_to(1.04, 1.01, 1.07)), "1.04");
  EXPECT_EQ(ratio_text(from_to(5, 3.24, 8)), ">3.2") << "the value is hardly known, but it is above 1";
  EXPECT_EQ(ratio_text(from_to(0.3, 0.1, 0.441)), "<0.45");
  EXPECT_EQ(ratio_text(from_to(2, 0.9, 4)), "?");
  EXPECT_EQ(ratio_text(kOverItself), "1.00");
  EXPECT_EQ(ratio_text(std::nullopt), "-");
  EXPECT_EQ(ratio_text(*ratio_by_counts(5, 5)), "1.00") << "a count is exact";
  EXPECT_EQ(share_text(from_to(98, 93, 104)), "~100%");
  EXPECT_EQ(share_text(from_to(72.4, 70, 75)), "72%");
  EXPECT_EQ(share_text(from_to(200, 126, 300)), ">120%");
  EXPECT_EQ(share_text(kOverItself.times(100)), "100%");
  EXPECT_EQ(share_text(std::nullopt), "-");
}

TEST(RatioText, TheIntervalHasBothEnds) {
  EXPECT_EQ(ratio_interval_text(from_to(3.84, 3.801, 3.882)), "3.80-3.88");
  EXPECT_EQ(ratio_interval_text(from_to(72, 69.6, 75.2), "%"), "70-75%");
  EXPECT_EQ(ratio_interval_text(from_to(1.02, 0.993, 1.052)), "0.99-1.05");
  EXPECT_EQ(ratio_interval_text(from_to(1.07, 1.021, 1.134)), "1.02-1.13");
  EXPECT_EQ(ratio_interval_text(from_to(4, 2, 9)), "2.0-9.0");
  EXPECT_EQ(ratio_interval_text(kOverItself), "1.00");
  EXPECT_EQ(ratio_interval_text(std::nullopt), "-");
}

TEST(RatioText, TheSignsOfATableAreExplainedIfThereAreAny) {
  EXPECT_EQ(ratio_legend({{"2 stage", "1.02", "50%"}, {"best ~", "-", "100%"}}), "");
  EXPECT_EQ(ratio_legend({{"2 stage", "~1", "50%"}}), "~1: cannot be told from 1");
  EXPECT_EQ(ratio_legend({{"2 stage", "2.0", "~100%"}, {"3 stage", ">2.1"}}),
            "~1: cannot be told from 1; ?, < and >: known no better than to a factor of two");
  EXPECT_EQ(ratio_legend({{"?"}}), "?, < and >: known no better than to a factor of two");
}

TEST(RatioText, ABoundIsRoundedDown) {
  EXPECT_EQ(bound_text(1.0999), "1.09");
  EXPECT_EQ(bound_text(1.1), "1.1");
  EXPECT_EQ(bound_text(1.49), "1.4");
  EXPECT_EQ(bound_text(9.99), "9.9");
  EXPECT_EQ(bound_text(12.9), "12");
  EXPECT_EQ(bound_text(1.009), "");
  EXPECT_EQ(bound_text(0.9), "");
}

}  // namespace
}  // namespace convladder
