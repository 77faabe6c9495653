// The statistics of a sequence of samples. No assumption is made about their distribution.
#pragma once

#include <optional>
#include <span>

namespace convladder {

/// The median: the mean of the two middle samples where their number is even. At least one sample.
double median(std::span<const double> samples);

/// The smallest sample that at least a quarter of them do not exceed. At least one sample.
double lower_quartile(std::span<const double> samples);

/// An interval that contains the distribution's median, or another quantile, with probability `level`, whatever the
/// distribution.
struct MedianInterval {
  double low = 0;
  double high = 0;
  double level = 0;
};

/// The narrowest interval between two order statistics, symmetric in rank, whose level is at least `wanted_level`:
/// [x(k), x(n+1-k)] covers the median with probability 1 - 2 P(Binomial(n, 1/2) < k) (David and Nagaraja, Order
/// Statistics, 7.1). With too few samples for the wanted level it is [min, max] with the level that has, 1 - 2^(1-n).
/// None for fewer than two samples.
std::optional<MedianInterval> median_interval(std::span<const double> samples, double wanted_level = 0.95);

/// The interval of the lower quartile: [x(k), x(l)] with the largest k for which P(Binomial(n, 1/4) < k), and the
/// smallest l for which P(Binomial(n, 1/4) >= l), is at most half of 1 - the wanted level; the smallest and the largest
/// sample where there is none.
std::optional<MedianInterval> lower_quartile_interval(std::span<const double> samples, double wanted_level = 0.95);

/// The range of a probability, judged by `successes` of `trials` (at least 1), with 95% confidence: Wilson's score
/// interval (Wilson, Probable inference, the law of succession, and statistical inference, 1927).
struct ProportionInterval {
  double low = 0;
  double high = 0;
};
ProportionInterval proportion_interval(int successes, int trials);

/// Exact bounds of a probability judged by `successes` of `trials`, each wrong in at most 1 - `level` of all
/// experiments (Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial,
/// 1934): below `low` so many successes, or more, would be rarer than that; above `high` so few. 0 of 299 at 95% gives
/// at most 0.997%; 59 of 59 at least 95.05%.
ProportionInterval exact_proportion_bounds(int successes, int trials, double level = 0.95);

}  // namespace convladder
