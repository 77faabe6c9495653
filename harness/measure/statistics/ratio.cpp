#include "harness/measure/statistics/ratio.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

constexpr std::array<std::string_view, 4> kNames{"rounds", "medians", "ranges", "counts"};

constexpr std::size_t kBlocks = 5;  // fewer are longer: their medians depend less on each other

/// P(|T| <= t) for Student's T (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4).
double student_within(double t, int freedom) {
  const double theta = std::atan(t / std::sqrt(freedom));
  const double cosine = std::cos(theta);
  const bool is_odd = freedom % 2 == 1;
  double term = is_odd ? cosine : 1;
  double sum = freedom == 1 ? 0 : term;
  for (int i = is_odd ? 3 : 2; i < freedom; i += 2) {
    term *= cosine * cosine * (i - 1) / i;
    sum += term;
  }
  return is_odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

/// Student's interval of the mean of the blocks' medians. At least two values.
LogInterval interval_of_blocks(std::span<const double> values, double level) {
  const std::size_t blocks = std::min(kBlocks, values.size());
  std::vector<double> medians;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = i * values.size() / blocks;
    const std::size_t end = (i + 1) * values.size() / blocks;
    medians.push_back(median(values.subspan(begin, end - begin)));
  }
  const auto count = static_cast<double>(blocks);
  const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / count;
  double squares = 0;
  for (const double one : medians) squares += (one - mean) * (one - mean);
  const double half = student_quantile(static_cast<int>(blocks) - 1, level) * std::sqrt(squares / (count - 1) / count);
  return {mean, mean - half, mean + half, level};
}

}  // namespace

std::string_view ratio_by_name(RatioBy by) { return kNames.at(static_cast<std::size_t>(by)); }

std::optional<RatioBy> ratio_by_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<RatioBy>(found - kNames.begin()));
}

std::optional<double> Ratio::half_width() const {
  return low && high ? std::optional((*high - *low) / 2 / value) : std::nullopt;
}

Ratio Ratio::times(double scale) const {
  Ratio scaled = *this;
  scaled.value *= scale;
  if (scaled.low) *scaled.low *= scale;
  if (scaled.high) *scaled.high *= scale;
  return scaled;
}

Ratio Ratio::from_run_to_run() const {
  Ratio wider = *this;
  if (wider.low) *wider.low *= 1 - kFromRunToRun;
  if (wider.high) *wider.high *= 1 + kFromRunToRun;
  return wider;
}

double student_quantile(int freedom, double level) {
  double low = 0;
  double high = 1;
  while (student_within(high, freedom) < level) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_within(middle, freedom) < level ? low : high) = middle;
  }
  return high;
}

std::optional<LogInterval> interval_in_time(std::span<const double> values, double level) {
  if (values.empty()) return std::nullopt;
  LogInterval found{.estimate = median(values), .low = 0, .high = 0, .level = 0};
  found.low = found.high = found.estimate;
  const auto of_order = median_interval(values, level);
  if (!of_order) return found;
  const LogInterval of_blocks = interval_of_blocks(values, level);
  found.low = std::min({found.low, of_order->low, of_blocks.low});
  found.high = std::max({found.high, of_order->high, of_blocks.high});
  found.level = level;
  return found;
}

std::optional<LogInterval> paired_log_ratio(std::span<const double> over, std::span<const double> under, double level) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < std::min(over.size(), under.size()); ++i) logs.push_back(std::log(over[i] / under[i]));
  return interval_in_time(logs, level);
}

Ratio ratio_by_rounds(double value, const LogInterval& logs) {
  Ratio found{.value = value, .by = RatioBy::rounds};
  if (!(logs.level > 0)) return found;
  found.low = std::min(value, std::exp(logs.low));
  found.high = std::max(value, std::exp(logs.high));
  found.level = logs.level;
  return found;
}

KnownFigure median_in_time(std::span<const double> samples, double level) {
  std::vector<double> logs;
  for (const double one : samples) logs.push_back(std::log(one));
  const LogInterval interval = *interval_in_time(logs, level);
  KnownFigure figure{.value = median(samples)};
  if (!(interval.level > 0)) return figure;
  figure.low = std::min(figure.value, std::exp(interval.low));
  figure.high = std::max(figure.value, std::exp(interval.high));
  figure.level = interval.level;
  return figure;
}

std::optional<Ratio> ratio_by_medians(const KnownFigure& over, const KnownFigure& under) {
  if (!(under.value > 0)) return std::nullopt;
  Ratio found{.value = over.value / under.value, .by = RatioBy::medians};
  if (!over.low || !over.high || !under.low || !under.high || !(*under.low > 0)) return found;
  found.low = std::min(found.value, *over.low / *under.high);
  found.high = std::max(found.value, *over.high / *under.low);
  if (over.level && under.level) found.level = std::max(0.0, *over.level + *under.level - 1);
  return found;
}

Ratio ratio_by_ranges(double over_low, double over_high, double under_low, double under_high) {
  const double of_lows = over_low / under_low;
  const double of_highs = over_high / under_high;
  return {.value = std::sqrt(of_lows * of_highs),
          .low = std::min(of_lows, of_highs),
          .high = std::max(of_lows, of_highs),
          .by = RatioBy::ranges};
}

std::optional<Ratio> ratio_by_counts(std::optional<double> over, std::optional<double> under) {
  if (!over || !under || !(*under > 0)) return std::nullopt;
  const double value = *over / *under;
  return Ratio{.value = value, .low = value, .high = value, .by = RatioBy::counts};
}

}  // namespace convladder
