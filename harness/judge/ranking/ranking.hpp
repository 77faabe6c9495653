// Ranks contenders by speed, as far as one is surely faster than another: figures in, ranks out, without clocks,
// processes or files. docs/use/rank.md has the rules.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convladder {

/// The natural logarithm of the baseline's time over a contender's: above 0 the contender is faster.
struct LogSpeed {
  double estimate = 0;
  double low = 0;
  double high = 0;
};

/// The level of each of `sizes` intervals, so that all of them hold at once with `level` (Bonferroni).
double level_of_each(double level, std::size_t sizes);

/// A range of a model. The speed from two ranges of the same model lies between the ratio of both lows and that of both
/// highs, since the model errs alike for both; the estimate is the geometric middle. All four are above 0.
struct FigureRange {
  double low = 0;
  double high = 0;
};
LogSpeed modelled_speed(const FigureRange& baseline, const FigureRange& contender);

/// A contender to be ranked.
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
  std::size_t contender = 0;      ///< index of the contender
  std::optional<int> rank;        ///< only for a contender with a figure for every size
  bool shares_rank = false;       ///< whether another has the same rank
  std::optional<LogSpeed> speed;  ///< over the sizes that it has, if it has not failed
  std::size_t sizes = 0;          ///< the number of sizes with a figure
};

/// All contenders, best first: those with every size by the estimate; then those that lack a size; then those that have
/// failed; each by name where nothing else orders them. Going down, a contender shares the rank of the one above unless
/// somebody who has that rank is surely faster; then the rank is the contender's place, counted from 1. So nobody
/// shares a rank with anyone who is surely faster.
std::vector<RankedContender> ranked(const std::vector<Contender>& contenders, double tau);

/// The index of the entry with the least geometric mean of its figures, such as times, among those that have all of
/// them; the first of equal ones. None if no entry has all.
std::optional<std::size_t> best_of(const std::vector<std::vector<std::optional<double>>>& figures);

}  // namespace convladder
