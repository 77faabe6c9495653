// Where a sequence of runs changes its level, and how sure that is.
//
// For every split of n values into the first k and the rest the rank sum of the first k (Wilcoxon 1945) is
// standardised; the largest over k is the statistic. That is Pettitt's test (A non-parametric approach to the
// change-point problem, 1979) with the standardisation of Hawkins and Deng (A nonparametric change-point control chart,
// 2010). If nothing changed, every order of the values is as likely as any other, whatever their distribution is, so
// the share of random orders whose statistic is as large is an exact p (Phipson and Smyth, Permutation p-values should
// never be zero, 2010); drawing stops early where p is large, which keeps it exact (Besag and Clifford, Sequential
// Monte Carlo p-values, 1991). The change is placed where the two levels, each with its median, have the least absolute
// deviations. The parts on both sides of a change are searched in the same way (binary segmentation,
// Scott and Knott 1974).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convladder {

/// The fewest runs that a level lasts.
constexpr std::size_t kShortestLevel = 3;

/// The fewest runs that can show a change, whatever alpha is.
constexpr int kFewestRuns = 8;

struct ChangePoint {
  std::size_t first = 0;  ///< index of the first value of the new level
  double shift = 0;       ///< Hodges-Lehmann: the median of all differences (after - before) between the two levels
  double p = 0;           ///< of the permutation test of the part in which it was found
};

/// The fewest values in which a change can be proved at level alpha: the most extreme outcome, all of one half below
/// all of the other, has probability 2 / C(n, n/2) for a split known before, and no test can give less than that. At
/// least kFewestRuns. alpha between 0 and 1.
int fewest_runs(double alpha);

/// The change points, ascending. For a sequence without a change one is found with a probability of at most alpha: the
/// whole is tested at alpha. When a part is split again, each part is tested at its share of alpha by length, so that a
/// further level of parts costs alpha once more; for these parts the bound holds if the change before was placed
/// correctly. Values are finite. `seed` draws the permutations; the same call gives the same result.
std::vector<ChangePoint> change_points(std::span<const double> values, double alpha, std::uint64_t seed);

/// The exact p of the test of the whole sequence: P(such a statistic, or a larger one, in a random order of these
/// values). 1 for fewer than kFewestRuns, or if all are equal. It is resolved down to about `alpha` / 10.
double change_p(std::span<const double> values, double alpha, std::uint64_t seed);

}  // namespace convladder
