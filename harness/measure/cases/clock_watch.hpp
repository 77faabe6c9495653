// Which samples of a device were taken while something held its clock down: none of them is in a median.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace convladder
