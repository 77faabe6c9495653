// Histories whose answer is known, measured on this machine: some did the same work in all runs, others more in the
// later half. For `convladder history --selftest`; docs/use/history.md
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/judge/history/alarms.hpp"

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
};

/// Measures histories with the small case, each run in fresh processes, with one thread.
class HistoryBench {
 public:
  explicit HistoryBench(std::uint64_t seed);
  ~HistoryBench();
  HistoryBench(const HistoryBench&) = delete;
  HistoryBench& operator=(const HistoryBench&) = delete;

  /// The id of the case.
  const std::string& id() const;
  /// How long a run of one history takes, in seconds; measured.
  double seconds_of_run();
  /// Measures a history for each of these amounts of extra work, in percent. `told` gets the part that is done, 0 to 1,
  /// and the number of histories that are judged. Throws UserError if a case fails.
  ///
  /// Each night all histories have a run, in randomly chosen groups whose samples take turns. So the samples of a run
  /// are spread over time, as those of a real one are, and a disturbance of the machine that lasts some seconds is in
  /// one run of a history only.
  std::vector<MeasuredHistory> measure(const std::vector<int>& percents,
                                       const std::function<void(double, std::size_t)>& told);

 private:
  class Processes;
  std::unique_ptr<Processes> processes_;
};

/// The approximate share of the time that the runs take: the rest is for measuring again.
inline constexpr double kNightsShare = 0.7;

}  // namespace convladder
