// Measures histories whose answer is known (measured_history.hpp) on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/judge/history/measured_history.hpp"

namespace convladder {

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
