// Which samples were spoiled, so that none of them is in a median: on a device whose clock was held down meanwhile, and
// on a CPU that others had.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/isolation/processor_turns.hpp"

namespace convladder {

/// Observations of the device during one sample.
struct ClockOfSample {
  double ns = 0;                          ///< time of all the sample's calls
  std::optional<double> clock_mhz;        ///< on average, measured by the device
  std::map<std::string, double> held_ns;  ///< by reason: for how long the clock was held down around it
};

/// Watches one case. A sample is spoiled if a reason grew by more than `kMostHeld` of its time, or if its clock is
/// below `kSameLevel` of the highest that the case has seen. The caller throws it away and takes another, up to
/// `kMostInARow` times: after that the device is like that, `is_held` is true, and samples at that level stand.
class ClockWatch {
 public:
  static constexpr double kMostHeld = 0.02;
  static constexpr double kSameLevel = 0.97;
  static constexpr int kMostInARow = 6;
  static constexpr int kMostTakenAgain = 40;

  /// Empty if the sample stands, otherwise why it does not, in words: "software power cap for 40% of the time".
  std::string why_spoiled(const ClockOfSample& sample);

  /// Whether the device stays below what it could do, or is held down without a pause.
  bool is_held() const { return is_held_; }
  /// The lowest clock of the samples that stand now: those below it were taken before the clock was up.
  double least_mhz() const { return kSameLevel * level_mhz_; }
  /// How many samples were thrown away, and the reasons, each once.
  int taken_again() const { return taken_again_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  std::optional<std::string> longest_reason(const ClockOfSample& sample) const;
  void remember(const std::string& reason);

  double level_mhz_ = 0;  ///< the highest clock of samples that stand; 0: none is known
  bool is_held_ = false;
  int in_a_row_ = 0;
  int taken_again_ = 0;
  std::vector<std::string> reasons_;
};

/// Watches one case on a CPU. A sample is spoiled if threads of the case, ready to run, waited for a processor for more
/// than `kMostWaiting` of its time. Some samples of a busy machine are like those of a quiet one; where none are, they
/// stand after `kMostInARow` tries, or when there is no time left for others, and the case's mark tells of the load.
class WaitWatch {
 public:
  static constexpr double kMostWaiting = 0.03;
  static constexpr int kMostInARow = 4;
  static constexpr double kShareOfBudget = 0.5;  // for samples that are taken again, besides the budget

  explicit WaitWatch(double budget_seconds) : seconds_left_(kShareOfBudget * budget_seconds) {}
  /// Whether the sample with that answer, which took so many seconds, is thrown away and another one is taken.
  bool is_spoiled(const ObservedAnswer& answer, double seconds);
  int taken_again() const { return taken_again_; }

 private:
  double seconds_left_;
  int in_a_row_ = 0;
  int taken_again_ = 0;
};

}  // namespace convladder
