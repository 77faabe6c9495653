// Many runs as trends: every case over time, relative to an anchor, and where it changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/history/history_files.hpp"
#include "harness/measure/statistics/change_points.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

/// Which cases are shown and how they are judged. An empty list means all.
struct HistoryOptions {
  std::vector<std::string> networks;
  std::vector<std::string> layers;  ///< "conv1" or "lenet72.conv1"
  std::vector<std::string> variants;
  std::vector<std::string> devices;
  std::vector<int> batches;
  std::string anchor;        ///< a variant; empty: chosen, see HistorySeries::anchor
  double alpha = 0.05;       ///< the probability that anything at all is marked in a history in which nothing changed
  double tau = 0.02;         ///< changes by a smaller fraction are not marked
  bool merge_hosts = false;  ///< the host's name may differ, as of machines of one kind that get a new name each time
};

/// A case in one run.
struct HistoryPoint {
  std::size_t run = 0;  ///< index into History::runs
  double median_ns = 0;
  std::optional<MedianInterval> interval;  ///< in ns, at 95 %; none for a single sample
  std::size_t samples = 0;
  /// The lower quartile of the case's samples / that of the anchor's, with its interval: a neighbour only makes a
  /// sample slower, so the faster ones tell most about the code. None where the anchor has no time in the same session
  /// of that run.
  std::optional<double> ratio;
  double anchor_ns = 0;  ///< the anchor's lower quartile in this run; only with a ratio
  std::optional<MedianInterval> ratio_interval;
  bool quiet = true;  ///< whether the anchor was not much slower in this run than in most others of the series

  /// Whether the search for changes uses this point.
  bool judged() const { return ratio.has_value() && quiet; }
};

/// A case over the runs that can be compared with each other.
struct HistorySeries {
  std::string id;
  std::string device;
  std::string network;
  std::string layer;
  std::string variant;
  int batch = 0;
  int rung = 0;  ///< 0 for a library
  std::string of;
  std::string cache;
  std::string hardware;  ///< the hardware that it ran on, as the first run gives it
  std::string host;
  int number = 1;                  ///< the series' number among those of this case, in order of time
  std::vector<std::string> split;  ///< why the series before it could not go on; empty for the first
  /// The variant that times are divided by: the one asked for; otherwise the first library by name that has a time in
  /// all runs of the layer, batch and device under these settings, otherwise the lowest rung that has one; otherwise
  /// none.
  std::string anchor;
  std::vector<HistoryPoint> points;
  std::vector<ChangePoint> changes;  ///< in ln(ratio), also those below tau; `first` is an index into points
  std::string not_judged;            ///< why no change is looked for, one line; empty if it is
  /// The p of the series as a whole; only where nothing is marked. A small one makes at least the latest runs suspect.
  std::optional<double> p;

  bool is_anchor() const { return variant == anchor; }
};

struct History {
  HistoryOptions options;
  HistoryRuns from;
  std::vector<HistorySeries> series;  ///< the greatest change first
  double series_alpha = 0;            ///< each judged series' share of alpha
  int judged = 0;
  int fewest = 0;  ///< with fewer runs nothing is claimed about a series

  const HistoryRun& run(const HistoryPoint& point) const { return from.runs[point.run]; }
  bool marked(const ChangePoint& change) const;
  /// The last run before the change that was judged, or the first one.
  const HistoryRun& run_before(const HistorySeries& of, const ChangePoint& change) const;
  /// ln(anchor's own time since the change / before it), by the medians of the two levels. If it is not small, the
  /// machine also changed, and may have slowed the case more than its anchor.
  static double anchor_shift(const HistorySeries& series, std::size_t change);
};

/// Determines which runs of a series were quiet, and finds its changes. `seed` draws the permutations.
///
/// A disturbance that makes the anchor slow, such as a neighbour on the same core, slows another case by another
/// factor, so the ratio of such a run says little. A run is quiet if its anchor took at most kSlowAnchor more than the
/// lower quartile of all runs of the series; at least half of the runs, and no fewer than a change can be shown in, are
/// quiet in any case. The rule looks at the anchor only, so it cannot choose runs by their results for the case. If
/// hardly any of the latest runs is quiet, all are judged: the machine itself may have become slower, and otherwise
/// nothing would be looked for since then.
void judge_series(HistorySeries& series, const History& history, std::uint64_t seed);

inline constexpr double kSlowAnchor = 0.05;

/// Throws UserError for a name or number that no run has, and if no run has a time.
History make_history(HistoryRuns runs, const HistoryOptions& options);

}  // namespace convladder
