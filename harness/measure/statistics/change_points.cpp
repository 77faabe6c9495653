#include "harness/measure/statistics/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "harness/measure/statistics/statistics.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

/// Drawing ends after so many random orders as extreme as the observed one.
constexpr int kExceedances = 20;
/// The number of random orders as extreme on which a p of alpha is based.
constexpr double kResolution = 10;
constexpr double kFewestPermutations = 999;
constexpr double kMostPermutations = 1e6;

/// The ranks 1 … n; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [values](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = (static_cast<double>(begin + end) + 1) / 2;
    begin = end;
  }
  return ranks;
}

/// For each split of n values 1 / the standard deviation of its rank sum. Ties make all deviations smaller by the same
/// factor, which changes no order and no p.
std::vector<double> scales(std::size_t n) {
  std::vector<double> result(n, 0.0);
  for (std::size_t k = kShortestLevel; k + kShortestLevel <= n; ++k) {
    const auto first = static_cast<double>(k);
    const auto rest = static_cast<double>(n - k);
    result[k] = 1 / std::sqrt(first * rest * static_cast<double>(n + 1) / 12);
  }
  return result;
}

/// The largest standardised rank sum over all splits.
double split_statistic(std::span<const double> ranks, std::span<const double> scale) {
  const std::size_t n = ranks.size();
  const double mean = static_cast<double>(n + 1) / 2;
  double largest = 0;
  double sum = 0;
  for (std::size_t k = 1; k + kShortestLevel <= n; ++k) {
    sum += ranks[k - 1] - mean;
    if (k < kShortestLevel) continue;
    largest = std::max(largest, std::fabs(sum) * scale[k]);
  }
  return largest;
}

double absolute_deviations(std::span<const double> values) {
  const double centre = median(values);
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [centre](double sum, double value) { return sum + std::fabs(value - centre); });
}

/// The split with the least absolute deviations from the medians of its sides. The rank sums prove that there is a
/// change but draw its place towards the middle.
std::size_t place_of_change(std::span<const double> values) {
  std::size_t best = kShortestLevel;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = kShortestLevel; k + kShortestLevel <= values.size(); ++k) {
    const double deviations = absolute_deviations(values.first(k)) + absolute_deviations(values.subspan(k));
    if (deviations < least) {
      least = deviations;
      best = k;
    }
  }
  return best;
}

/// The p of the observed statistic: P(the statistic of a random order is at least `observed`).
double permutation_p(std::vector<double> ranks, std::span<const double> scale, double observed, double alpha,
                     SeededRandom& random) {
  const auto most = static_cast<int>(std::clamp(kResolution / alpha, kFewestPermutations, kMostPermutations));
  // An order with the same sum must count as equal, however the sum is rounded.
  const double least = observed * (1 - 1e-12);
  int exceedances = 0;
  for (int drawn = 1; drawn <= most; ++drawn) {
    shuffle(ranks, random);
    if (split_statistic(ranks, scale) >= least && ++exceedances == kExceedances) {
      return static_cast<double>(kExceedances) / drawn;
    }
  }
  return (exceedances + 1.0) / (most + 1.0);
}

double shift_between(std::span<const double> before, std::span<const double> after) {
  std::vector<double> differences;
  differences.reserve(before.size() * after.size());
  for (const double then : before) {
    for (const double now : after) differences.push_back(now - then);
  }
  return median(differences);
}

/// Appends the places of changes in values [begin, end), with their p.
void search(std::span<const double> values, std::size_t begin, std::size_t end, double alpha, SeededRandom& random,
            std::vector<ChangePoint>& found) {
  const std::size_t n = end - begin;
  if (n < static_cast<std::size_t>(fewest_runs(alpha))) return;
  const std::vector<double> ranks = ranks_of(values.subspan(begin, n));
  const std::vector<double> scale = scales(n);
  const double statistic = split_statistic(ranks, scale);
  if (!(statistic > 0)) return;  // all values are equal
  const double p = permutation_p(ranks, scale, statistic, alpha, random);
  if (p > alpha) return;
  const std::size_t first = place_of_change(values.subspan(begin, n));
  const std::size_t middle = begin + first;
  const double share = alpha / static_cast<double>(n);
  search(values, begin, middle, share * static_cast<double>(first), random, found);
  found.push_back({.first = middle, .shift = 0, .p = p});
  search(values, middle, end, share * static_cast<double>(n - first), random, found);
}

}  // namespace

int fewest_runs(double alpha) {
  int n = kFewestRuns;
  const auto most_extreme = [](int count) {
    const int half = count / 2;
    const double below = std::lgamma(half + 1.0) + std::lgamma(count - half + 1.0);
    return 2 * std::exp(below - std::lgamma(count + 1.0));
  };
  while (most_extreme(n) > alpha) ++n;
  return n;
}

std::vector<ChangePoint> change_points(std::span<const double> values, double alpha, std::uint64_t seed) {
  std::vector<ChangePoint> found;
  SeededRandom random(seed, 0);
  search(values, 0, values.size(), alpha, random, found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : found[i - 1].first;
    const std::size_t end = i + 1 < found.size() ? found[i + 1].first : values.size();
    found[i].shift = shift_between(values.subspan(begin, found[i].first - begin),
                                   values.subspan(found[i].first, end - found[i].first));
  }
  return found;
}

double change_p(std::span<const double> values, double alpha, std::uint64_t seed) {
  if (values.size() < static_cast<std::size_t>(kFewestRuns)) return 1;
  const std::vector<double> ranks = ranks_of(values);
  const std::vector<double> scale = scales(values.size());
  const double statistic = split_statistic(ranks, scale);
  if (!(statistic > 0)) return 1;
  SeededRandom random(seed, 1);
  return permutation_p(ranks, scale, statistic, alpha, random);
}

}  // namespace convladder
