// Who is how fast, and who is faster than whom: figures in, ranks out. It knows no clock, no process and no file.
// docs/use/rank.md has the rules.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convladder {

/// The natural logarithm of the yardstick's time over a contender's: above 0 the contender is faster.
struct LogSpeed {
  double estimate = 0;
  double low = 0;
  double high = 0;
};

/// The same of one size, by the rounds in which both were measured side by side.
struct MeasuredSpeed {
  LogSpeed log;
  double level = 0;  ///< with which the interval holds the median of the rounds' ratios; 0 of a single round
  int rounds = 0;
};

/// The level of each of `sizes` intervals, so that all of them hold at once with `level` (Bonferroni).
double level_of_each(double level, std::size_t sizes);

/// Sample i of both is of round i. The median of the rounds' logarithms, and its interval between two order statistics
/// (median_interval) at `level`, or what fewer rounds can give. Rounds that only one of them has say nothing. None
/// without a round that both have. Samples are above 0.
std::optional<MeasuredSpeed> measured_speed(std::span<const double> yardstick, std::span<const double> contender,
                                            double level);

/// From two ranges of the same model: each is the ratio of both lows or of both highs, since the model errs alike for
/// both; the estimate lies in the geometric middle. All four above 0.
struct FigureRange {
  double low = 0;
  double high = 0;
};
LogSpeed modelled_speed(const FigureRange& yardstick, const FigureRange& contender);

/// One who is to be ranked.
struct Contender {
  std::string name;
  std::vector<std::optional<LogSpeed>> sizes;  ///< each size of the ranking; none where there is no figure
  bool has_failed = false;                     ///< on any size, or before the first
};

/// The mean over the sizes, of which there is at least one: the logarithm of the geometric mean. It lies between the
/// means of the lows and of the highs.
LogSpeed mean_of(std::span<const LogSpeed> sizes);

/// Whether `one` is surely faster: by more than `tau`, a fraction of the slower one's speed, however their intervals
/// are taken.
bool surely_faster(const LogSpeed& one, const LogSpeed& other, double tau);

struct RankedContender {
  std::size_t contender = 0;      ///< its number
  std::optional<int> rank;        ///< only of one that has a figure of every size
  bool shares_rank = false;       ///< with another
  std::optional<LogSpeed> speed;  ///< over the sizes that it has, if it has not failed
  std::size_t sizes = 0;          ///< that it has a figure of
};

/// All of them, best first: who has every size by the estimate; then who lacks a size; then who has failed; each by
/// name where nothing else orders them. Going down, one shares the rank of the one above unless somebody who has that
/// rank is surely faster; then his rank is his place, counted from 1. So nobody shares a rank with who is surely
/// faster.
std::vector<RankedContender> ranked(const std::vector<Contender>& contenders, double tau);

/// The number of the one with the least geometric mean of its figures, times for example, of those who have all of
/// them; the first of equal ones. None if nobody has.
std::optional<std::size_t> best_of(const std::vector<std::vector<std::optional<double>>>& figures);

}  // namespace convladder
