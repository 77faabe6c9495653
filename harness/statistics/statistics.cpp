#include "harness/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace convladder {

double median(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::optional<MedianInterval> median_interval(std::span<const double> samples, double wanted_level) {
  const auto n = static_cast<int>(samples.size());
  if (n < 2) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);

  // below = P(Binomial(n, 1/2) < k), summed up as long as both tails together leave the wanted level. Logarithms,
  // because 2^-n underflows for large n.
  const auto probability = [n](int successes) {
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(successes + 1.0) - std::lgamma(n - successes + 1.0) -
                    n * std::log(2.0));
  };
  int k = 1;
  double below = probability(0);
  while (2 * (k + 1) <= n && 1 - 2 * (below + probability(k)) >= wanted_level) {
    below += probability(k);
    ++k;
  }
  return MedianInterval{sorted[k - 1], sorted[n - k], 1 - 2 * below};
}

ProportionInterval proportion_interval(int successes, int trials) {
  constexpr double z = 1.959963984540054;  // the normal distribution's 97.5% quantile
  const double n = trials;
  const double p = successes / n;
  const double centre = p + z * z / (2 * n);
  const double half_width = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  // It holds p by its definition; of none or all of them one end is p, but for rounding.
  return {std::clamp((centre - half_width) / scale, 0.0, p), std::clamp((centre + half_width) / scale, p, 1.0)};
}

namespace {

/// P(Binomial(trials, p) <= successes).
double binomial_at_most(int successes, int trials, double p) {
  double sum = 0;
  for (int k = 0; k <= successes; ++k) {
    sum += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) + k * std::log(p) +
                    (trials - k) * std::log1p(-p));
  }
  return std::min(sum, 1.0);
}

/// The largest p at which so few successes are still as frequent as `rarity`. It falls with p, so it is halved in.
double largest_probability(int successes, int trials, double rarity) {
  if (successes >= trials) return 1;
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (binomial_at_most(successes, trials, middle) > rarity ? low : high) = middle;
  }
  return high;
}

}  // namespace

ProportionInterval exact_proportion_bounds(int successes, int trials, double level) {
  // So many successes are so few failures of the other kind.
  return {1 - largest_probability(trials - successes, trials, 1 - level),
          largest_probability(successes, trials, 1 - level)};
}

}  // namespace convladder
