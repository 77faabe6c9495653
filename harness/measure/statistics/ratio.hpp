// A ratio of two figures, and the interval in which it lies. docs/how/measuring.md says what the interval covers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace convladder {

/// The source of a ratio's interval.
enum class RatioBy {
  rounds,   ///< samples of both that were taken side by side, round by round
  medians,  ///< both medians' intervals: nothing pairs the samples
  ranges,   ///< the ranges that one model predicts for both
  counts,   ///< whole numbers that were counted: exact
};
/// "rounds", "medians", "ranges", "counts".
std::string_view ratio_by_name(RatioBy by);
std::optional<RatioBy> ratio_by_from_name(std::string_view name);

/// The level that is wanted of a ratio's interval.
inline constexpr double kRatioLevel = 0.95;
/// The level of each of two intervals that hold at once with kRatioLevel.
inline constexpr double kLevelOfEach = 1 - (1 - kRatioLevel) / 2;
/// How far a ratio of two times differs from run to run beyond what its samples show, as a part of itself: a process
/// that is started anew has its code and data at other addresses. Measured: docs/how/measuring.md.
inline constexpr double kFromRunToRun = 0.015;
/// From a ratio whose interval's high is more than so many times its low no headline is made.
inline constexpr double kWidestHeadline = 2;

/// A ratio, or a share in percent. `low` <= `value` <= `high`; all are above 0.
struct Ratio {
  double value = 1;
  std::optional<double> low = {};    ///< none where nothing is known of the noise
  std::optional<double> high = {};   ///< with `low`
  std::optional<double> level = {};  ///< with `low`, except for ranges and counts
  RatioBy by = RatioBy::medians;

  /// Whether the ratio cannot be told from `other`: it lies in the interval. True where there is no interval.
  bool holds(double other) const { return !(low && high) || (*low <= other && other <= *high); }
  /// Surely above, or below.
  bool is_above(double other) const { return low && *low > other; }
  bool is_below(double other) const { return high && *high < other; }
  /// Whether enough is known for a headline: the interval is there, and no wider than kWidestHeadline.
  bool is_known() const { return low && high && *high <= kWidestHeadline * *low; }
  /// Half the interval over the value; none without an interval.
  std::optional<double> half_width() const;
  /// All of it times `scale`, which is above 0: 100 makes percent.
  Ratio times(double scale) const;
  /// With an interval that is wider by kFromRunToRun on both sides.
  Ratio from_run_to_run() const;
  bool operator==(const Ratio&) const = default;
};

/// A figure over itself.
inline constexpr Ratio kOverItself{.value = 1, .low = 1, .high = 1, .level = 1, .by = RatioBy::rounds};

/// A logarithm of a figure or of a ratio, and its interval.
struct LogInterval {
  double estimate = 0;
  double low = 0;
  double high = 0;
  double level = 0;  ///< 0 for a single sample, whose interval is the estimate
};

/// The interval of the median of `values`, which were taken one after the other: from the lower end to the upper of two
/// intervals at `level`. One lies between two order statistics (median_interval), and needs independent values. The
/// other is Student's for the mean of the medians of five blocks of consecutive values, as in the method of batch means
/// (Conway, Some tactical problems in digital simulation, 1963; Schmeiser, Batch size effects in the analysis of
/// simulation output, 1982): neighbours within a block may depend on each other, as they do while the machine drifts.
/// None without values.
std::optional<LogInterval> interval_in_time(std::span<const double> values, double level);

/// The logarithm of the ratio of two times from samples of both, where sample i is of round i: interval_in_time of the
/// rounds' logarithms. Rounds that only one of them has are ignored; none without one that both have. Samples are above
/// 0.
std::optional<LogInterval> paired_log_ratio(std::span<const double> over, std::span<const double> under, double level);

/// A ratio of that value, usually of the two medians that a table shows, with the interval of paired_log_ratio, which
/// is widened to hold it. Without an interval for a single round.
Ratio ratio_by_rounds(double value, const LogInterval& logs);

/// A figure with its interval. Above 0.
struct KnownFigure {
  double value = 0;
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::optional<double> level = {};
};

/// The median of samples that were taken one after the other, with interval_in_time at `level`. At least one sample.
KnownFigure median_in_time(std::span<const double> samples, double level);

/// The ratio of figures of which nothing pairs the samples: from `over`'s low over `under`'s high to the other two. Its
/// level is that with which both intervals hold at once (Bonferroni). None where `under` is not above 0.
std::optional<Ratio> ratio_by_medians(const KnownFigure& over, const KnownFigure& under);

/// The ratio of two ranges of one model, which errs alike for both: from the ratio of both lows to that of both highs,
/// or the other way round; the value is their geometric middle. All ends are above 0.
Ratio ratio_by_ranges(double over_low, double over_high, double under_low, double under_high);

/// The ratio of two counts, which is exact. None where one is missing or `under` is not above 0.
std::optional<Ratio> ratio_by_counts(std::optional<double> over, std::optional<double> under);

/// The quantile of Student's distribution with `freedom` degrees of freedom (at least 1) that is exceeded with
/// probability (1 - level) / 2: 12.71 for 1 and 0.95.
double student_quantile(int freedom, double level);

}  // namespace convladder
