#include "harness/measure/statistics/signed_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "sanitized.hpp"
#include "support/seeded_random.hpp"
#include "tests/harness/noisy_trace.hpp"

namespace convladder {
namespace {

/// How often W+ has each value over all 2^n sign patterns, one by one.
std::vector<int> counted_patterns(int n) {
  std::vector<int> count(static_cast<std::size_t>(n * (n + 1) / 2 + 1), 0);
  for (std::uint32_t pattern = 0; pattern < 1U << n; ++pattern) {
    int sum = 0;
    for (int rank = 1; rank <= n; ++rank) {
      if ((pattern >> (rank - 1) & 1U) != 0) sum += rank;
    }
    ++count[static_cast<std::size_t>(sum)];
  }
  return count;
}

int verdicts(Verdict wanted, int trials, int rounds, double sigma, double change) {
  SeededRandom random(5, static_cast<std::uint64_t>(rounds));
  int found = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto bounds = signed_rank_bounds(trace(random, rounds, sigma, change), 0.01);
    if (bounds && judge(*bounds, {}) == wanted) ++found;
  }
  return found;
}

TEST(SignedRankDistribution, IsThatOfAllSignPatterns) {
  for (int n = 0; n <= 14; ++n) {
    const std::vector<int> count = counted_patterns(n);
    const std::vector<double> probability = signed_rank_distribution(n);
    ASSERT_EQ(probability.size(), count.size());
    for (std::size_t w = 0; w < count.size(); ++w) {
      EXPECT_EQ(std::ldexp(probability[w], n), count[w]) << "n " << n << ", W+ " << w;
    }
  }
}

TEST(SignedRankDistribution, SumsToOneAndIsSymmetricForManyRounds) {
  for (const int n : {31, 53, 100, 300}) {
    const std::vector<double> probability = signed_rank_distribution(n);
    EXPECT_NEAR(std::accumulate(probability.begin(), probability.end(), 0.0), 1, 1e-12);
    for (std::size_t w = 0; w < probability.size(); ++w) {
      ASSERT_NEAR(probability[w], probability[probability.size() - 1 - w], 1e-15);
    }
  }
}

TEST(SignedRankBoundIndex, IsThatOfTheTables) {
  // One-sided 1%: Wilcoxon's tables give W = k - 1 (0, 3, 12, 49, 130).
  const std::pair<int, int> table[] = {{7, 1}, {9, 4}, {13, 13}, {21, 50}, {31, 131}};
  for (const auto& [rounds, k] : table) EXPECT_EQ(signed_rank_bound_index(rounds, 0.01), k) << rounds;
  for (int rounds = 0; rounds < kFewestRounds; ++rounds) EXPECT_EQ(signed_rank_bound_index(rounds, 0.01), 0);
}

TEST(SignedRankBoundIndex, IsTheLargestThatCountingPatternsAllows) {
  for (const double alpha : {0.01, 0.025, 0.05, 0.25}) {
    for (int n = 1; n <= 13; ++n) {
      const std::vector<int> count = counted_patterns(n);
      int k = 0;
      int below = 0;
      while (below + count[static_cast<std::size_t>(k)] <= alpha * (1 << n))
        below += count[static_cast<std::size_t>(k++)];
      EXPECT_EQ(signed_rank_bound_index(n, alpha), k) << "n " << n << ", alpha " << alpha;
    }
  }
}

TEST(WalshAverages, AreAllMeansOfTwo) {
  EXPECT_EQ(walsh_averages(std::vector{4.0, 1.0, 2.0}), (std::vector{1.0, 1.5, 2.0, 2.5, 3.0, 4.0}));
  EXPECT_TRUE(walsh_averages(std::vector<double>{}).empty());
}

TEST(SignedRankBounds, AreTheWalshAveragesOfThatRank) {
  const std::vector<double> differences = {0.07, -0.01, 0.03, 0.02, 0.05, 0.01, 0.04, 0.06, 0.08};
  const auto bounds = signed_rank_bounds(differences, 0.01);
  ASSERT_TRUE(bounds.has_value());
  const std::vector<double> averages = walsh_averages(differences);
  EXPECT_EQ(bounds->low, averages[3]);
  EXPECT_EQ(bounds->high, averages[45 - 4]);
  EXPECT_EQ(bounds->estimate, averages[22]);
}

TEST(SignedRankBounds, NeedSevenRounds) {
  EXPECT_FALSE(signed_rank_bounds(std::vector<double>(6, 0.1), 0.05).has_value());
  ASSERT_TRUE(signed_rank_bounds(std::vector<double>(7, 0.1), 0.01).has_value());
  EXPECT_EQ(judge(*signed_rank_bounds(std::vector<double>(7, 0.1), 0.01), {}), Verdict::regressed);
  EXPECT_FALSE(signed_rank_bounds(std::vector<double>(7, 0.1), 0.001).has_value());
}

TEST(SignedRankBounds, ErrAsOftenAsTheySayWhateverTheDistribution) {
  // The sign of each difference is a coin, as in a duel of two equal builds; sizes are skewed and unequal.
  for (const int rounds : {7, 9, 13, 21}) {
    SeededRandom random(77, static_cast<std::uint64_t>(rounds));
    constexpr int kTrials = kSanitized ? 4000 : 20000;
    int wrong = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> differences;
      for (int round = 0; round < rounds; ++round) {
        const double size = -std::log(uniform(random)) * (1 + round);
        differences.push_back(random.chance(50) ? size : -size);
      }
      if (signed_rank_bounds(differences, 0.01)->low > 0) ++wrong;
    }
    // 1% at most, and four standard deviations.
    EXPECT_LE(wrong, 0.01 * kTrials + 4 * std::sqrt(0.01 * kTrials)) << rounds;
    EXPECT_GT(wrong, 0) << rounds;
  }
}

TEST(Judge, IsTheRuleOfTheLimits) {
  const auto verdict = [](double low, double high) {
    return judge({.estimate = 0, .low = std::log1p(low), .high = std::log1p(high)}, {});
  };
  EXPECT_EQ(verdict(0.021, 0.2), Verdict::regressed);
  EXPECT_EQ(verdict(0.021, 0.03), Verdict::regressed) << "goes before pass";
  EXPECT_EQ(verdict(0.019, 0.049), Verdict::pass);
  EXPECT_EQ(verdict(0.019, 0.051), Verdict::inconclusive);
  EXPECT_EQ(verdict(-0.2, 0.01), Verdict::pass);
  EXPECT_EQ(verdict(-0.2, -0.021), Verdict::improved);
  EXPECT_EQ(verdict(-0.2, 0.2), Verdict::inconclusive);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge({.estimate = nan, .low = nan, .high = nan}, {}), Verdict::inconclusive);
}

TEST(RecordedTraces, OfTwoEqualBuildsShowNoRegression) {
  for (const double sigma : {0.01, 0.03}) {
    EXPECT_EQ(verdicts(Verdict::regressed, 300, 21, sigma, 0), 0) << sigma;
    EXPECT_EQ(verdicts(Verdict::improved, 300, 21, sigma, 0), 0) << sigma;
  }
}

TEST(RecordedTraces, OfFivePercentMoreWorkShowIt) {
  EXPECT_GE(verdicts(Verdict::regressed, 59, 21, 0.01, std::log(1.05)), 56);
  EXPECT_GE(verdicts(Verdict::improved, 59, 21, 0.01, -std::log(1.05)), 56);
  EXPECT_EQ(verdicts(Verdict::pass, 59, 21, 0.01, std::log(1.05)), 0);
}

}  // namespace
}  // namespace convladder
