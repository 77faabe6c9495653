#include "harness/judge/duel/duel_decision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/judge/duel/duel_output.hpp"
#include "harness/judge/duel/duel_round.hpp"
#include "harness/measure/statistics/signed_rank.hpp"
#include "sanitized.hpp"
#include "support/seeded_random.hpp"
#include "tests/harness/noisy_trace.hpp"

namespace convladder {
namespace {

/// Screen and confirmation of cases with these true changes: what a duel decides. The screen's passes are passes.
std::vector<Verdict> duel_of(SeededRandom& random, const std::vector<double>& changes, double sigma,
                             const DuelLimits& limits = {}) {
  std::vector<Verdict> verdicts(changes.size(), Verdict::pass);
  std::vector<std::size_t> flagged;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (screen(trace(random, limits.screen_rounds, sigma, changes[i]), limits).flagged) flagged.push_back(i);
  }
  Confirmation confirmation(limits, flagged.size());
  for (const int look : confirmation.looks()) {
    for (std::size_t i = 0; i < flagged.size(); ++i) {
      while (!confirmation.cases()[i].decided && static_cast<int>(confirmation.cases()[i].differences.size()) < look) {
        confirmation.add(i, noisy(random, sigma, changes[flagged[i]]));
      }
    }
    confirmation.look();
    if (confirmation.over()) break;
  }
  for (std::size_t i = 0; i < flagged.size(); ++i) verdicts[flagged[i]] = confirmation.cases()[i].verdict;
  return verdicts;
}

/// A confirmation whose cases have `rounds` rounds around these changes, with hardly any spread.
Confirmation confirmed(const std::vector<double>& changes, double spread, const DuelLimits& limits = {}) {
  Confirmation confirmation(limits, changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (int round = 0; round < confirmation.looks().front(); ++round) {
      confirmation.add(i, changes[i] + spread * (round - 6));
    }
  }
  confirmation.look();
  return confirmation;
}

TEST(DuelRound, TakesTheSlotsOfEachSideFromTheOrder) {
  EXPECT_NEAR((DuelRound{true, {100, 105, 105, 100}, {}}.difference()), std::log(1.05), 1e-12);
  EXPECT_NEAR((DuelRound{false, {105, 100, 100, 105}, {}}.difference()), std::log(1.05), 1e-12);
  EXPECT_NEAR((DuelRound{true, {105, 100, 100, 105}, {}}.difference()), -std::log(1.05), 1e-12);
}

TEST(DuelRound, CancelsADriftThatIsTheSameFromSlotToSlot) {
  const double step = 1.1;
  const std::array<double, 4> drifting = {100, 100 * step, 100 * step * step, 100 * step * step * step};
  EXPECT_NEAR((DuelRound{true, drifting, {}}.difference()), 0, 1e-12);
  EXPECT_NEAR((DuelRound{false, drifting, {}}.difference()), 0, 1e-12);
}

TEST(DuelRound, IsReadAsItWasWritten) {
  const DuelRound round{false, {1.5, 2, 3, 4.25}, {}};
  const DuelRound read = round_from_json(round_to_json(round));
  EXPECT_EQ(read.base_outside, round.base_outside);
  EXPECT_EQ(read.values, round.values);
}

TEST(DuelRound, TellsTheClockFromTheCode) {
  // Half the clock, twice the time: the same cycles.
  std::vector<DuelRound> rounds(13, DuelRound{true, {100, 200, 201, 100}, {{1000, 500, 500, 1000}}});
  EXPECT_NEAR(differences(rounds).front(), std::log(2.0), 0.01);
  EXPECT_NEAR(cycle_differences(rounds).front(), 0, 0.01);
  const auto cycles = signed_rank_bounds(cycle_differences(rounds), 0.01);
  EXPECT_TRUE(only_the_clock(Verdict::regressed, *cycles, 0.02));
  const DuelRound read = round_from_json(round_to_json(rounds[0]));
  EXPECT_EQ(read.clock_mhz, rounds[0].clock_mhz);

  rounds.assign(13, DuelRound{true, {100, 200, 201, 100}, {{1000, 1000, 1000, 1000}}});
  EXPECT_FALSE(only_the_clock(Verdict::regressed, *signed_rank_bounds(cycle_differences(rounds), 0.01), 0.02));
  rounds[5].clock_mhz.reset();
  EXPECT_TRUE(cycle_differences(rounds).empty()) << "one slot without a clock leaves nothing to say";
}

TEST(DuelCoin, IsFairAndReproducible) {
  int outside = 0;
  for (int round = 0; round < 10000; ++round) outside += duel_coin(1, "cpu/x/1", round) ? 1 : 0;
  EXPECT_NEAR(outside, 5000, 200);
  EXPECT_EQ(duel_coin(7, "a case", 3), duel_coin(7, "a case", 3));
  int same = 0;
  for (int round = 0; round < 1000; ++round) same += duel_coin(1, "a", round) == duel_coin(1, "b", round) ? 1 : 0;
  EXPECT_NEAR(same, 500, 70) << "every case has coins of its own";
}

TEST(SignedRankP, AgreesWithTheBounds) {
  SeededRandom random(3, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<double> d = trace(random, 9 + trial % 5, 0.02, 0.03);
    for (const double alpha : {0.05, 0.01, 0.005}) {
      const auto bounds = signed_rank_bounds(d, alpha);
      ASSERT_TRUE(bounds);
      EXPECT_EQ(signed_rank_p_above(d, 0.02) <= alpha, bounds->low > 0.02);
    }
  }
  EXPECT_EQ(signed_rank_p_above(std::vector{1.0, 2.0, 3.0}, 0), 1.0 / 8);
  EXPECT_EQ(signed_rank_p_above(std::vector{1.0, 2.0, 3.0}, 4), 1);
}

TEST(Looks, AreThePlannedOnesAndTheLast) {
  EXPECT_THAT(confirm_looks(31), testing::ElementsAre(13, 21, 31));
  EXPECT_THAT(confirm_looks(13), testing::ElementsAre(13));
  EXPECT_THAT(confirm_looks(25), testing::ElementsAre(13, 21, 25));
  EXPECT_THAT(confirm_looks(100), testing::ElementsAre(13, 21, 31, 77, 100));
}

TEST(Screen, PassesOnlyWhatIsProvedToBeBelowDelta) {
  SeededRandom random(1, 1);
  EXPECT_FALSE(screen(trace(random, 9, 0.002, 0), {}).flagged);
  EXPECT_FALSE(screen(trace(random, 9, 0.002, 0.01), {}).flagged);
  EXPECT_TRUE(screen(trace(random, 9, 0.002, 0.03), {}).flagged) << "suspected to be above tau";
  EXPECT_TRUE(screen(trace(random, 9, 0.002, -0.03), {}).flagged) << "likewise an improvement";
  EXPECT_TRUE(screen(trace(random, 9, 0.1, 0), {}).flagged) << "too noisy to pass";
}

TEST(Screen, FlagsWhatIsNoNumber) {
  std::vector<double> d(9, 0.0);
  EXPECT_FALSE(screen(d, {}).flagged);
  d.assign(9, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(screen(d, {}).flagged);
}

TEST(Confirmation, DecidesAtTheFirstLookWhatIsClear) {
  const Confirmation clear = confirmed({std::log(1.10), 0.0, std::log(0.9)}, 1e-4);
  EXPECT_EQ(clear.cases()[0].verdict, Verdict::regressed);
  EXPECT_EQ(clear.cases()[1].verdict, Verdict::pass);
  EXPECT_EQ(clear.cases()[2].verdict, Verdict::improved);
  EXPECT_TRUE(clear.over());
}

TEST(Confirmation, GivesNoVerdictWhereTheSpreadIsTooWide) {
  const Confirmation wide = confirmed({0.03}, 0.02);
  EXPECT_EQ(wide.cases()[0].verdict, Verdict::inconclusive);
  EXPECT_FALSE(wide.over());
}

TEST(Confirmation, RegressionGoesBeforePass) {
  // 3 % slower is above tau and below Delta: both are proved.
  EXPECT_EQ(confirmed({std::log(1.03)}, 1e-4).cases()[0].verdict, Verdict::regressed);
}

TEST(Confirmation, HolmAsksMoreOfOneAmongMany) {
  // 13 rounds, the two nearest to zero below tau: p is a few of 2^13, times 3 looks about 0.005.
  const auto with_others = [](std::size_t others) {
    Confirmation confirmation({}, 1 + others);
    for (int round = 0; round < 13; ++round) {
      confirmation.add(0, round < 2 ? 0.0195 : 0.05 + 0.001 * round);
      for (std::size_t i = 1; i <= others; ++i) confirmation.add(i, (round % 2 == 0 ? 1 : -1) * 0.1);
    }
    confirmation.look();
    return confirmation.cases()[0];
  };
  const Confirmation::Case alone = with_others(0);
  EXPECT_LE(alone.p_slower, 0.01);
  EXPECT_EQ(alone.verdict, Verdict::regressed);
  const Confirmation::Case among_many = with_others(40);
  EXPECT_EQ(among_many.p_slower, alone.p_slower);
  EXPECT_EQ(among_many.verdict, Verdict::inconclusive);
}

TEST(Confirmation, WithdrawnCasesAreCountedAndNotJudged) {
  Confirmation confirmation({}, 2);
  confirmation.withdraw(1);
  for (int round = 0; round < 13; ++round) confirmation.add(0, 0.1);
  confirmation.look();
  EXPECT_EQ(confirmation.cases()[0].verdict, Verdict::regressed);
  EXPECT_EQ(confirmation.cases()[1].verdict, Verdict::inconclusive);
  EXPECT_TRUE(confirmation.over());
}

constexpr int kFewerTrials = kSanitized ? 4 : 1;

TEST(Duel, SeldomCallsEqualSidesAChange) {
  constexpr int kTrials = 400 / kFewerTrials;
  SeededRandom random(11, 1);
  for (const double sigma : {0.005, 0.03, 0.15}) {
    int changes = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      for (const Verdict verdict : duel_of(random, std::vector<double>(5, 0.0), sigma)) {
        changes += verdict == Verdict::regressed || verdict == Verdict::improved ? 1 : 0;
      }
    }
    EXPECT_LE(changes, kTrials / 100) << "of duels of 5 cases, at most 1 % of the duels; sigma " << sigma;
  }
}

TEST(Duel, SeldomCallsAChangeOfTauARegression) {
  // The worst case that must not be called one.
  constexpr int kTrials = 1000 / kFewerTrials;
  SeededRandom random(12, 1);
  int regressed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    regressed += duel_of(random, {std::log(1.02)}, 0.01)[0] == Verdict::regressed ? 1 : 0;
  }
  EXPECT_LE(regressed, kTrials * 15 / 1000);
}

TEST(Duel, SeldomPassesAChangeOfDelta) {
  constexpr int kTrials = 1000 / kFewerTrials;
  SeededRandom random(13, 1);
  for (const double sigma : {0.005, 0.02, 0.05}) {
    int passed = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      passed += duel_of(random, {std::log(1.05)}, sigma)[0] == Verdict::pass ? 1 : 0;
    }
    EXPECT_LE(passed, kTrials * 15 / 1000) << "at most 1 %, and what chance adds; sigma " << sigma;
  }
}

TEST(Duel, FindsFivePercentWhereTheNoiseIsOnePercent) {
  SeededRandom random(14, 1);
  int found = 0;
  for (int trial = 0; trial < 300; ++trial) {
    found += duel_of(random, {std::log(1.05)}, 0.01)[0] == Verdict::regressed ? 1 : 0;
  }
  EXPECT_GE(found, 290);
}

TEST(Control, ExcludesZeroAsRarelyAsItSays) {
  SeededRandom random(15, 1);
  int contaminated = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const auto outcome = judge_control(trace(random, 9 + trial % 20, 0.03, 0), 0.01);
    ASSERT_TRUE(outcome);
    contaminated += outcome->contaminated ? 1 : 0;
  }
  EXPECT_LE(contaminated, 34) << "20 of 2000 at 1 %, and three standard deviations of chance";
}

TEST(Control, SeesASideThatIsSlower) {
  SeededRandom random(16, 1);
  EXPECT_TRUE(judge_control(trace(random, 20, 0.005, 0.02), 0.01)->contaminated);
  EXPECT_FALSE(judge_control(std::vector<double>(6, 0.1), 0.01)) << "too few rounds to say anything";
  const std::vector<double> no_numbers(9, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(judge_control(no_numbers, 0.01)->contaminated);
}

TEST(RoundsWanting, GrowWithTheSquareOfTheWidth) {
  // In the middle of a wide interval: Delta is the nearest that can be proved, 0.0488 - 0.01 away.
  const int some = *rounds_wanting({0.01, -0.07, 0.09}, 31, {});
  EXPECT_NEAR(31 + some, 31 * std::pow(0.08 / (std::log(1.05) - 0.01), 2), 1.01);
  const int more = *rounds_wanting({0.01, -0.15, 0.17}, 31, {});
  EXPECT_NEAR((31.0 + more) / (31 + some), 4, 0.1);
  // Clearly slower: the distance to tau counts.
  const int slower = *rounds_wanting({0.06, 0.01, 0.11}, 31, {});
  EXPECT_NEAR(31 + slower, 31 * std::pow(0.05 / (0.06 - std::log(1.02)), 2), 1.01);
  EXPECT_EQ(*rounds_wanting({0.1, 0.09, 0.11}, 31, {}), 1) << "at least one";
  EXPECT_FALSE(rounds_wanting({0, -std::numeric_limits<double>::infinity(), 1}, 31, {}));
}

TEST(Foresight, PromisesWhatConfirmationsThenFind) {
  SeededRandom random(21, 1);
  const DuelLimits limits{.verdict = {.tau = 0.01, .delta = 0.03}, .most_rounds = 60};
  int promised = 0;
  int found = 0;
  for (int duel = 0; duel < 400; ++duel) {
    const double sigma = 0.001 * random.between(15, 40);
    if (!foresee(trace(random, 9, sigma, 0), limits, 1).delta_is_promised) continue;
    ++promised;
    found += duel_of(random, {std::log1p(limits.verdict.delta)}, sigma, limits).front() == Verdict::regressed ? 1 : 0;
  }
  EXPECT_GT(promised, 100);
  EXPECT_GE(found, promised * 85 / 100) << promised;
}

TEST(Foresight, KnowsWhatIsBeyondAllRounds) {
  SeededRandom random(22, 1);
  const Foresight noisy = foresee(trace(random, 9, 0.6, 0), {}, 1);
  EXPECT_GT(noisy.rounds_for_delta, kMostDuelRounds);
  EXPECT_FALSE(noisy.delta_is_promised);
  EXPECT_GT(noisy.finds, 0.2);
  const Foresight quiet = foresee(std::vector<double>(9, 0.0), {}, 1);
  EXPECT_EQ(quiet.rounds_for_delta, kFewestConfirmRounds);
  EXPECT_TRUE(quiet.delta_is_promised);
  EXPECT_NEAR(quiet.finds, 0.02, 1e-9);
  const std::vector<double> some = trace(random, 9, 0.02, 0);
  EXPECT_GT(foresee(some, {}, 20).rounds_for_delta, foresee(some, {}, 1).rounds_for_delta) << "Holm over 20 cases";
}

TEST(TwoGroups, AreToldFromScatter) {
  SeededRandom random(23, 1);
  int found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 44; ++i) values.push_back(100 * std::exp(noisy(random, 0.05, 0)));
    found += two_groups(values) ? 1 : 0;
  }
  EXPECT_LE(found, 2);
  std::vector<double> both;
  for (int i = 0; i < 44; ++i) both.push_back((i % 3 == 0 ? 150 : 100) * std::exp(noisy(random, 0.01, 0)));
  const std::optional<TwoGroups> groups = two_groups(both);
  ASSERT_TRUE(groups);
  EXPECT_NEAR(groups->lower, 100, 3);
  EXPECT_NEAR(groups->upper, 150, 4);
  EXPECT_FALSE(two_groups(std::vector<double>(20, 5.0)));
  EXPECT_FALSE(two_groups({})) << "none at all";
}

}  // namespace
}  // namespace convladder
