// The exact signed-rank test of paired differences (Wilcoxon), turned into an estimate with bounds.
//
// d_1 … d_K are differences of logarithms, one for each round. If both sides are the same, a coin that chose the order
// within each round makes their signs exchangeable, so the test is exact whatever the noise is. The bounds are those of
// Hodges and Lehmann, Estimates of location based on rank tests, 1963; the method is docs/use/compare.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/measure/statistics/change_verdict.hpp"

namespace convladder {

/// The fewest rounds with which a verdict is given, whatever alpha is: with fewer none is possible at 1%.
constexpr int kFewestRounds = 7;

/// P(W+ = w) for w = 0 … n(n+1)/2, W+ being the sum of the ranks 1 … n that a fair coin picks: by the recurrence over
/// n. Whole multiples of 2^-n, exact up to n = 53. n at least 0.
std::vector<double> signed_rank_distribution(int n);

/// The index k = max{k : P(W+ <= k - 1) <= alpha} of the Walsh average, counted from either end, that is a one-sided
/// bound at level 1 - alpha. 0 where even the outermost is not.
int signed_rank_bound_index(int n, double alpha);

/// The n(n+1)/2 means (d_i + d_j) / 2 for i <= j, ascending.
std::vector<double> walsh_averages(std::span<const double> differences);

/// The Hodges-Lehmann estimate (the median of the Walsh averages) and its one-sided bounds at level 1 - alpha each: the
/// k-th smallest and the k-th largest. None for fewer than kFewestRounds differences.
std::optional<ChangeBounds> signed_rank_bounds(std::span<const double> differences, double alpha);

/// The probability to see the differences at least so far above `change` if their centre is not above it: P(W+ >= w),
/// where w is the number of Walsh averages above it. At most alpha exactly where the low bound at level 1 - alpha lies
/// above `change`.
double signed_rank_p_above(std::span<const double> differences, double change);

}  // namespace convladder
