#include "harness/judge/ranking/ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/measure/statistics/ratio.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

constexpr double kTau = 0.02;

/// A multiple of the baseline's speed, with an interval of that relative half width.
LogSpeed times(double multiple, double half_width = 0.001) {
  const double log = std::log(multiple);
  return {log, log - std::log1p(half_width), log + std::log1p(half_width)};
}

Contender on_one_size(const std::string& name, const LogSpeed& speed) { return {name, {speed}, false}; }

/// "rank name", in the order of the table; '=' behind a rank that is shared.
std::vector<std::string> table(const std::vector<Contender>& contenders, double tau = kTau) {
  std::vector<std::string> lines;
  for (const RankedContender& one : ranked(contenders, tau)) {
    lines.push_back((one.rank ? std::to_string(*one.rank) : "-") + (one.shares_rank ? "= " : " ") +
                    contenders[one.contender].name);
  }
  return lines;
}

using testing::DoubleNear;
using testing::ElementsAre;

TEST(RankingTest, TheFastestIsFirst) {
  EXPECT_THAT(table({on_one_size("slow", times(0.1)), on_one_size("fast", times(3)), on_one_size("middle", times(1))}),
              ElementsAre("1 fast", "2 middle", "3 slow"));
}

TEST(RankingTest, WhoCannotBeToldApartSharesTheRankAndTheNextRankIsThePlace) {
  EXPECT_THAT(table({on_one_size("a", times(2, 0.05)), on_one_size("b", times(1.95, 0.05)), on_one_size("c", times(1)),
                     on_one_size("d", times(0.99, 0.01)), on_one_size("e", times(0.5))}),
              ElementsAre("1= a", "1= b", "3= c", "3= d", "5 e"));
}

TEST(RankingTest, NobodySharesARankWithWhoIsSurelyFaster) {
  // Each is close to the next, and the first is surely faster than the third.
  const std::vector<Contender> chain{on_one_size("a", times(1.08, 0.02)), on_one_size("b", times(1.04, 0.02)),
                                     on_one_size("c", times(1.0, 0.02)), on_one_size("d", times(0.96, 0.02))};
  EXPECT_THAT(table(chain), ElementsAre("1= a", "1= b", "3= c", "3= d"));
  // One of whom nothing is known does not join those above with those below.
  EXPECT_THAT(table({on_one_size("a", times(2)), on_one_size("noisy", times(1.4, 1.0)), on_one_size("b", times(1))}),
              ElementsAre("1= a", "1= noisy", "3 b"));
}

TEST(RankingTest, SurelyFasterIsByMoreThanTau) {
  EXPECT_FALSE(surely_faster(times(1.019, 0), times(1, 0), kTau));
  EXPECT_TRUE(surely_faster(times(1.021, 0), times(1, 0), kTau));
  EXPECT_FALSE(surely_faster(times(1, 0), times(1.021, 0), kTau));
  EXPECT_TRUE(surely_faster(times(1.001, 0), times(1, 0), 0));
  EXPECT_FALSE(surely_faster(times(1.1, 0.05), times(1, 0.05), kTau));  // the intervals overlap
  EXPECT_THAT(table({on_one_size("b", times(1, 0)), on_one_size("a", times(1, 0))}, 0), ElementsAre("1= a", "1= b"));
}

TEST(RankingTest, WhoLacksASizeHasNoRankAndWhoFailedIsLast) {
  const std::vector<Contender> all{{"failed", {times(9), std::nullopt}, true},
                                   {"lacks one", {times(5), std::nullopt}, false},
                                   {"lacks all", {std::nullopt, std::nullopt}, false},
                                   {"another failed", {times(9), times(9)}, true},
                                   {"slow", {times(0.1), times(0.1)}, false}};
  EXPECT_THAT(table(all), ElementsAre("1 slow", "- lacks one", "- lacks all", "- another failed", "- failed"));
  const std::vector<RankedContender> placed = ranked(all, kTau);
  EXPECT_NEAR(placed[1].speed->estimate, std::log(5), 1e-12);
  EXPECT_EQ(placed[1].sizes, 1U);
  EXPECT_FALSE(placed[2].speed);
  EXPECT_FALSE(placed[3].speed);  // figures of a failed one are none
}

TEST(RankingTest, NobodyToRank) {
  EXPECT_TRUE(ranked({}, kTau).empty());
  EXPECT_THAT(table({{"nothing", {}, false}}), ElementsAre("- nothing"));
}

TEST(RankingTest, SizesAreJoinedByTheGeometricMean) {
  const LogSpeed mean = mean_of(std::vector{LogSpeed{std::log(4), std::log(2), std::log(8)}, LogSpeed{0, 0, 0}});
  EXPECT_NEAR(std::exp(mean.estimate), 2, 1e-12);
  EXPECT_NEAR(std::exp(mean.low), std::sqrt(2), 1e-12);
  EXPECT_NEAR(std::exp(mean.high), std::sqrt(8), 1e-12);
  // Twice as fast here and half as fast there is no better than the other way round.
  EXPECT_THAT(table({{"a", {times(2), times(0.5)}, false}, {"b", {times(0.5), times(2)}, false}}),
              ElementsAre("1= a", "1= b"));
}

TEST(RankingTest, AllIntervalsTogetherHaveTheLevel) {
  EXPECT_DOUBLE_EQ(level_of_each(0.95, 1), 0.95);
  EXPECT_DOUBLE_EQ(level_of_each(0.95, 5), 0.99);
  EXPECT_DOUBLE_EQ(level_of_each(0.95, 0), 0.95);
}

/// Two who are equally fast, in noise that is skewed and different in each: they are told apart no more often than the
/// level says, and one who is a tenth faster nearly always.
TEST(RankingTest, NoiseAloneTellsNobodyApart) {
  SeededRandom random(7, 1);
  const auto noise = [&random](double scale) { return 1 - scale * std::log(random.between(1, 1 << 20) * 0x1p-20); };
  constexpr int kTrials = 400;
  int equal_apart = 0;
  int faster_found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto contender = [&](const std::string& name, double time) {
      Contender one{name, {}, false};
      for (int size = 0; size < 2; ++size) {
        std::vector<double> baseline;
        std::vector<double> its;
        for (int round = 0; round < 30; ++round) {
          baseline.push_back(100 * noise(0.02));
          its.push_back(time * noise(0.02));
        }
        const LogInterval logs = *paired_log_ratio(baseline, its, level_of_each(0.95, 2));
        one.sizes.emplace_back(LogSpeed{logs.estimate, logs.low, logs.high});
      }
      return one;
    };
    const std::vector<RankedContender> equal = ranked({contender("a", 100), contender("b", 100)}, 0);
    equal_apart += equal[1].rank == 1 ? 0 : 1;
    const std::vector<RankedContender> apart = ranked({contender("slow", 110), contender("fast", 100)}, kTau);
    faster_found += apart[0].contender == 1 && apart[1].rank == 2 ? 1 : 0;
  }
  EXPECT_LE(equal_apart, kTrials / 20);
  EXPECT_GE(faster_found, kTrials * 95 / 100);
}

TEST(RankingTest, AModelsRangesAreComparedEndByEnd) {
  const LogSpeed speed = modelled_speed({10, 40}, {5, 10});
  EXPECT_NEAR(std::exp(speed.low), 2, 1e-12);
  EXPECT_NEAR(std::exp(speed.high), 4, 1e-12);
  EXPECT_NEAR(std::exp(speed.estimate), std::sqrt(8), 1e-12);
  const LogSpeed crossed = modelled_speed({10, 20}, {5, 40});
  EXPECT_NEAR(std::exp(crossed.low), 0.5, 1e-12);
  EXPECT_NEAR(std::exp(crossed.high), 2, 1e-12);
}

TEST(RankingTest, TheBestHasEverySizeAndTheLeastGeometricMean) {
  EXPECT_EQ(best_of({{8.0, 8.0}, {4.0, 4.0}, {1.0, std::nullopt}, {2.0, 32.0}}), 1U);
  EXPECT_EQ(best_of({{4.0}, {4.0}}), 0U);
  EXPECT_FALSE(best_of({{std::nullopt}, {}}));
  EXPECT_FALSE(best_of({}));
}

}  // namespace
}  // namespace convladder
