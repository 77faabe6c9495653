#include "harness/measure/statistics/statistics.hpp"

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

double lower_quartile(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted[(sorted.size() + 3) / 4 - 1];
}

namespace {

/// The interval between two order statistics around the quantile below which `share` of the distribution lies.
std::optional<MedianInterval> quantile_interval(std::span<const double> samples, double share, double wanted_level) {
  const auto n = static_cast<int>(samples.size());
  if (n < 2) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);

  // Logarithms, because share^n underflows for large n.
  const auto probability = [n, share](int successes) {
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(successes + 1.0) - std::lgamma(n - successes + 1.0) +
                    successes * std::log(share) + (n - successes) * std::log1p(-share));
  };
  const double tail = (1 - wanted_level) / 2;
  int low = 1;
  double below = probability(0);  // P(Binomial < low)
  while (low < n && below + probability(low) <= tail) below += probability(low++);
  int high = n;
  double above = probability(n);  // P(Binomial >= high)
  while (high > low + 1 && above + probability(high - 1) <= tail) above += probability(--high);
  return MedianInterval{sorted[static_cast<std::size_t>(low - 1)], sorted[static_cast<std::size_t>(high - 1)],
                        1 - below - above};
}

}  // namespace

std::optional<MedianInterval> median_interval(std::span<const double> samples, double wanted_level) {
  return quantile_interval(samples, 0.5, wanted_level);
}

std::optional<MedianInterval> lower_quartile_interval(std::span<const double> samples, double wanted_level) {
  return quantile_interval(samples, 0.25, wanted_level);
}

ProportionInterval proportion_interval(int successes, int trials) {
  constexpr double z = 1.959963984540054;  // the normal distribution's 97.5% quantile
  const double n = trials;
  const double p = successes / n;
  const double centre = p + z * z / (2 * n);
  const double half_width = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  // The interval contains p by definition; with none or all of them one end is p, except for rounding.
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

/// The largest p at which so few successes are still as frequent as `rarity`. The frequency falls with p, so p is found
/// by bisection.
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
