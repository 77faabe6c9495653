#include "harness/measure/statistics/change_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/harness/recorded_runs.hpp"

namespace convladder {
namespace {

/// Around 0, scattering by about `sigma`, from `noisy_samples`.
std::vector<double> noise(std::size_t count, double sigma, std::uint64_t stream) {
  std::vector<double> values = noisy_samples(1, sigma, stream, static_cast<int>(count));
  for (double& value : values) value = std::log(value);
  return values;
}

void lift(std::vector<double>& values, std::size_t from, double by) {
  for (std::size_t i = from; i < values.size(); ++i) values[i] += by;
}

/// At most so many of `trials` may be wrong, each with probability `rate`, except once in a thousand: the smallest k
/// with P(Binomial(trials, rate) > k) < 0.001.
int most_wrong(int trials, double rate) {
  double below = 0;
  for (int k = 0;; ++k) {
    below += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                      k * std::log(rate) + (trials - k) * std::log1p(-rate));
    if (1 - below < 0.001) return k;
  }
}

TEST(ChangePoints, FindTheStepAndItsHeight) {
  std::vector<double> values = noise(40, 0.01, 1);
  lift(values, 25, std::log(1.05));
  const std::vector<ChangePoint> found = change_points(values, 0.01, 1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first, 25U);
  EXPECT_NEAR(std::exp(found[0].shift), 1.05, 0.01);
  EXPECT_LE(found[0].p, 0.01);
}

TEST(ChangeP, IsThatOfTheWholeSequence) {
  std::vector<double> values = noise(24, 0.01, 4);
  EXPECT_GT(change_p(values, 0.05, 1), 0.05);
  lift(values, 12, 0.1);
  EXPECT_LT(change_p(values, 0.05, 1), 0.01);
  EXPECT_EQ(change_p(std::vector<double>(12, 1.0), 0.05, 1), 1) << "all are equal";
  EXPECT_EQ(change_p(std::span(values).first(7), 0.05, 1), 1) << "too few";
}

TEST(ChangeP, IsUniformWhereNothingChanges) {
  constexpr int kTrials = 1000;
  int below = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    below += change_p(noise(16, 0.01, static_cast<std::uint64_t>(100 + trial)), 0.05, 1) <= 0.2 ? 1 : 0;
  }
  EXPECT_LE(below, most_wrong(kTrials, 0.2));
  EXPECT_GE(below, kTrials / 10) << "and not much rarer";
}

TEST(ChangePoints, FindUpAndDown) {
  std::vector<double> values = noise(60, 0.01, 2);
  lift(values, 20, 0.1);
  lift(values, 40, -0.2);
  const std::vector<ChangePoint> found = change_points(values, 0.01, 1);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].first, 20U);
  EXPECT_NEAR(found[0].shift, 0.1, 0.01);
  EXPECT_EQ(found[1].first, 40U);
  EXPECT_NEAR(found[1].shift, -0.2, 0.01);
}

TEST(ChangePoints, LeaveASingleOutlierAlone) {
  std::vector<double> values = noise(40, 0.01, 3);
  values[20] += 5;
  EXPECT_TRUE(change_points(values, 0.01, 1).empty());
}

TEST(ChangePoints, ClaimNothingOfTooFewRuns) {
  for (const double alpha : {0.05, 0.005, 0.0005}) {
    const auto fewest = static_cast<std::size_t>(fewest_runs(alpha));
    std::vector<double> values(fewest - 1, 0.0);
    std::iota(values.begin(), values.end(), 0.0);
    lift(values, values.size() / 2, 100);
    EXPECT_TRUE(change_points(values, alpha, 1).empty());
  }
  EXPECT_EQ(fewest_runs(0.05), 8);    // 2 / C(8, 4) = 0.029, and 8 are asked for at least
  EXPECT_EQ(fewest_runs(0.01), 10);   // 2 / C(9, 4) = 0.016, 2 / C(10, 5) = 0.0079
  EXPECT_EQ(fewest_runs(0.001), 14);  // 2 / C(13, 6) = 0.0012, 2 / C(14, 7) = 0.00058
}

TEST(ChangePoints, SeeNoneInWhatIsConstant) {
  EXPECT_TRUE(change_points(std::vector<double>(50, 0.5), 0.05, 1).empty());
  EXPECT_TRUE(change_points({}, 0.05, 1).empty());
}

TEST(ChangePoints, AreTheSameAgain) {
  std::vector<double> values = noise(40, 0.05, 4);
  lift(values, 30, 0.1);
  const std::vector<ChangePoint> once = change_points(values, 0.05, 7);
  const std::vector<ChangePoint> again = change_points(values, 0.05, 7);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].p, again[i].p);
}

// Every order of 8 values, which are equally likely where nothing changed: a change is seen in a share of alpha at
// most.
TEST(ChangePoints, KeepTheirErrorRateOverAllOrders) {
  std::vector<double> values(8);
  std::iota(values.begin(), values.end(), 0.0);
  int orders = 0;
  int alarms = 0;
  do {
    alarms += change_points(values, 0.05, static_cast<std::uint64_t>(orders)).empty() ? 0 : 1;
    ++orders;
  } while (std::ranges::next_permutation(values).found);
  EXPECT_EQ(orders, 40320);
  EXPECT_LE(alarms, orders / 20);
  EXPECT_GE(alarms, orders / 100);  // 2 / C(8, 4) of them have all of one half below the other
}

// Runs of one program with heavy tails: one in ten scatters ten times as much.
TEST(ChangePoints, KeepTheirErrorRateUnderHeavyTails) {
  constexpr int trials = 1000;
  for (const std::size_t runs : {12U, 40U}) {
    int alarms = 0;
    for (int i = 0; i < trials; ++i) {
      const auto stream = static_cast<std::uint64_t>(10 * i);
      std::vector<double> values = noise(runs, 0.01, 100000 + stream);
      SeededRandom random(5, stream);
      for (double& value : values) value *= random.chance(10) ? 10 : 1;
      alarms += change_points(values, 0.05, stream).empty() ? 0 : 1;
    }
    EXPECT_LE(alarms, most_wrong(trials, 0.05)) << runs;
  }
}

TEST(ChangePoints, SeldomMissFivePercentInTwentyRuns) {
  int found = 0;
  for (std::uint64_t i = 0; i < 59; ++i) {
    std::vector<double> values = noise(20, 0.01, 500 + i);
    lift(values, 10, std::log(1.05));
    found += change_points(values, 0.001, i).empty() ? 0 : 1;
  }
  EXPECT_GE(found, 56);
}

}  // namespace
}  // namespace convladder
