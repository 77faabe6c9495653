#include "harness/judge/compare/recorded_change.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

/// The change between the medians of two sequences of logarithms.
std::optional<ChangeBounds> change_of_logarithms(std::span<const double> base, std::span<const double> now,
                                                 double alpha) {
  const auto fewest = static_cast<std::size_t>(fewest_samples(alpha));
  if (base.size() < fewest || now.size() < fewest) return std::nullopt;
  // Two sides with alpha / 2 each: a bound uses one side of each interval, alpha together.
  const std::optional<MedianInterval> then = median_interval(base, 1 - alpha);
  const std::optional<MedianInterval> today = median_interval(now, 1 - alpha);
  return ChangeBounds{
      .estimate = median(now) - median(base), .low = today->low - then->high, .high = today->high - then->low};
}

std::vector<double> logarithms(std::span<const double> samples) {
  std::vector<double> result;
  for (const double sample : samples) result.push_back(std::log(sample));
  return result;
}

}  // namespace

std::vector<double> logarithms_of_ratios(const SampleRounds& rounds) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(rounds.samples.size(), rounds.witness.size()); ++i) {
    result.push_back(std::log(rounds.samples[i]) - std::log(rounds.witness[i]));
  }
  return result;
}

int fewest_samples(double alpha) {
  int n = 2;
  while (std::exp2(1 - n) > alpha) ++n;
  return n;
}

std::optional<ChangeBounds> recorded_change(std::span<const double> base, std::span<const double> now, double alpha) {
  return change_of_logarithms(logarithms(base), logarithms(now), alpha);
}

std::optional<ChangeBounds> change_beside_witness(const SampleRounds& base, const SampleRounds& now, double alpha) {
  return change_of_logarithms(logarithms_of_ratios(base), logarithms_of_ratios(now), alpha);
}

}  // namespace convladder
