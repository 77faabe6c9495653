#include "harness/judge/compare/recorded_change.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/harness/recorded_runs.hpp"

namespace convladder {
namespace {

std::vector<double> scaled(std::vector<double> samples, double factor) {
  for (double& sample : samples) sample *= factor;
  return samples;
}

TEST(RecordedChange, NeedsAsManySamplesAsItsLevelDoes) {
  EXPECT_EQ(fewest_samples(0.01), 8);
  EXPECT_EQ(fewest_samples(0.05), 6);
  EXPECT_EQ(fewest_samples(0.5), 2);
  const std::vector<double> seven(7, 1.0);
  const std::vector<double> eight(8, 1.0);
  EXPECT_FALSE(recorded_change(seven, eight, 0.01).has_value());
  EXPECT_FALSE(recorded_change(eight, seven, 0.01).has_value());
  EXPECT_TRUE(recorded_change(eight, eight, 0.01).has_value());
}

TEST(RecordedChange, IsBoundedByTheEndsOfBothIntervals) {
  const std::vector<double> base = {10, 11, 12, 13, 14, 15, 16, 17};  // at 1% their range
  const auto change = recorded_change(base, scaled(base, 2), 0.01);
  EXPECT_NEAR(change->estimate, std::log(2), 1e-12);
  EXPECT_NEAR(change->low, std::log(20.0 / 17), 1e-12);
  EXPECT_NEAR(change->high, std::log(34.0 / 10), 1e-12);
}

TEST(RecordedChange, ErrsAtMostAsOftenAsItSays) {
  constexpr int kTrials = 4000;
  int wrong = 0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    const auto change =
        recorded_change(noisy_samples(1000, 0.03, 2 * trial, 15), noisy_samples(1000, 0.03, 2 * trial + 1, 15), 0.05);
    if (change->low > 0) ++wrong;
  }
  EXPECT_LE(wrong, 0.05 * kTrials);
}

TEST(ChangeBesideAWitness, DoesNotSeeWhatBothWentThrough) {
  // All but the first eighth of the new record ran at half the speed, for both.
  const std::vector<double> base = noisy_samples(1000, 0.005, 1);
  const std::vector<double> witness = noisy_samples(700, 0.005, 2);
  std::vector<double> slow = noisy_samples(1000, 0.005, 3);
  std::vector<double> slow_witness = noisy_samples(700, 0.005, 4);
  for (std::size_t i = slow.size() / 8; i < slow.size(); ++i) {
    slow[i] *= 2;
    slow_witness[i] *= 2;
  }
  EXPECT_EQ(judge(*recorded_change(base, slow, 0.01), {}), Verdict::regressed);
  EXPECT_EQ(judge(*change_beside_witness({base, witness}, {slow, slow_witness}, 0.01), {}), Verdict::pass);
  EXPECT_EQ(judge(*change_beside_witness({base, witness}, {scaled(slow, 1.1), slow_witness}, 0.01), {}),
            Verdict::regressed);
}

TEST(ChangeBesideAWitness, CountsTheRoundsThatBothHave) {
  const std::vector<double> many = noisy_samples(1000, 0.01, 1);
  const std::vector<double> seven(many.begin(), many.begin() + 7);
  EXPECT_FALSE(change_beside_witness({many, seven}, {many, many}, 0.01).has_value());
  EXPECT_TRUE(change_beside_witness({many, many}, {many, many}, 0.01).has_value());
}

}  // namespace
}  // namespace convladder
