#include "corpus/naive_methods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace convladder {
namespace {

struct Moments {
  double mean = 0;
  double variance_of_mean = 0;
};

Moments moments_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (n - 1) / n};
}

/// P(|T| > t) of Student's distribution, by Simpson's rule over its density.
double student_p(double t, double degrees) {
  constexpr int steps = 2000;
  const double constant =
      std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) / std::sqrt(degrees * std::numbers::pi);
  const auto density = [&](double x) { return constant * std::pow(1 + x * x / degrees, -(degrees + 1) / 2); };
  const double width = t / steps;
  double sum = density(0) + density(t);
  for (int i = 1; i < steps; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(i * width);
  return std::max(0.0, 1 - 2 * sum * width / 3);
}

}  // namespace

double welch_p(std::span<const double> a, std::span<const double> b) {
  const Moments one = moments_of(a);
  const Moments other = moments_of(b);
  const double variance = one.variance_of_mean + other.variance_of_mean;
  if (!(variance > 0)) return one.mean == other.mean ? 1 : 0;
  const double degrees = variance * variance /
                         (one.variance_of_mean * one.variance_of_mean / (static_cast<double>(a.size()) - 1) +
                          other.variance_of_mean * other.variance_of_mean / (static_cast<double>(b.size()) - 1));
  return student_p(std::fabs(one.mean - other.mean) / std::sqrt(variance), degrees);
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;
  for (const double value : a) all.emplace_back(value, true);
  for (const double value : b) all.emplace_back(value, false);
  std::ranges::sort(all);
  double rank_sum = 0;
  double ties = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].first == all[begin].first) ++end;
    const auto count = static_cast<double>(end - begin);
    ties += count * count * count - count;
    for (std::size_t i = begin; i < end; ++i) rank_sum += all[i].second ? static_cast<double>(begin + end + 1) / 2 : 0;
    begin = end;
  }
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  const double distance = std::max(0.0, std::fabs(rank_sum - n * (total + 1) / 2) - 0.5);
  return std::erfc(distance / std::sqrt(variance) / std::numbers::sqrt2);
}

double change_of_fastest(std::span<const double> base, std::span<const double> now) {
  return std::log(std::ranges::min(now) / std::ranges::min(base));
}

double change_of_means(std::span<const double> base, std::span<const double> now) {
  return moments_of(now).mean / moments_of(base).mean - 1;
}

bool exceeds_smaller_noise(std::span<const double> base, std::span<const double> now) {
  const auto noise_of = [](std::span<const double> values) {
    const Moments moments = moments_of(values);
    return std::sqrt(moments.variance_of_mean * static_cast<double>(values.size())) / moments.mean;
  };
  return std::fabs(change_of_means(base, now)) > std::min(noise_of(base), noise_of(now));
}

}  // namespace convladder
