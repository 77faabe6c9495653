// Histories whose answer is known: some did the same work in all runs, others more in the later half. For
// `convladder history --selftest`; docs/use/history.md
#pragma once

#include <string>
#include <vector>

#include "harness/judge/history/alarms.hpp"
#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

/// The variant whose times the case's are divided by.
inline constexpr const char* kHistoryAnchor = "memory-accumulation";
inline constexpr int kRunsOfHistory = 24;
inline constexpr int kUnchangedRuns = 12;  ///< before the work grows

/// The outcome of one history.
struct MeasuredHistory {
  int extra_percent = 0;
  std::vector<double> ratios;                ///< one per run
  std::vector<std::vector<double>> samples;  ///< in ns: for each run those of the anchor, then those of the case
  bool measured_again = false;               ///< marked, or only suspected
  bool marked = false;
  AlarmOutcome outcome = AlarmOutcome::not_confirmed;
  bool slower = false;        ///< by the mark, or as measured again
  std::vector<double> again;  ///< differences of the rounds that decided

  /// Whether a change is reported; with extra work only one in the right direction counts.
  bool is_alarm() const { return outcome == AlarmOutcome::confirmed && (extra_percent == 0 || slower); }
  bool only_suspected() const { return measured_again && !marked; }
};

/// All histories with the same amount of extra work.
struct HistoryLevel {
  int extra_percent = 0;
  int histories = 0;
  int marked = 0;
  int suspected = 0;  ///< but not marked
  int alarms = 0;
  int open = 0;
  ProportionInterval bounds;  ///< of the share of alarms, exact, each at 95 %
};

struct HistorySelftest {
  std::string id;  ///< of the case
  std::string neighbour;
  double seconds = 0;
  std::vector<MeasuredHistory> histories;

  /// By extra work, ascending.
  std::vector<HistoryLevel> levels() const;
};

}  // namespace convladder
