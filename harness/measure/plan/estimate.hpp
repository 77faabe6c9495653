// How long cases take: predicted from the times of the same variant on the same layer, or, on a GPU before any of them
// was seen, from the device's peak. And how long a step of a case may take.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "devices/device_registry.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

class Estimator {
 public:
  explicit Estimator(const RunOptions& options) : options_(&options) {}

  /// By what cases share their times: device, variant, and size without the batch. Layers of a network that are alike
  /// are asked once.
  static std::string key(const PlannedCase& planned);
  /// Records the seconds of one call of that variant on that size for that batch.
  void learn(const PlannedCase& planned, double call_seconds);
  /// Predicted seconds from the start of the case to its end; 0 for one that does not run.
  double case_seconds(const PlannedCase& planned) const;
  /// Predicted seconds before the first of a group's cases: inputs and the float64 reference; 0 if none runs.
  double group_seconds(const CaseGroup& group) const;

  /// Whether a small call of each variant tells more than it costs. On a GPU it does not: starting a process takes
  /// longer than most cases' calls.
  static bool is_worth_a_call(const DeviceKind& kind) { return kind.has_clock && kind.speed == nullptr; }

 private:
  double unseen_call_seconds(const DeviceKind& kind, const ProblemSize& shape) const;
  double start_seconds(const DeviceKind& kind) const;

  const RunOptions* options_;
  std::map<std::string, double> seconds_per_image_;
  mutable std::map<std::string, DeviceSpeed> speeds_;  ///< each asked for once
};

/// Predicted seconds of a whole network's case on a device: its passes, each of which takes `pass_flop`, and comparing
/// every step of every image.
double network_seconds(const DeviceKind& kind, double budget_seconds, double pass_flop);

/// The work that a process is asked to do between two answers.
struct StepWork {
  double flop = 0;
  double bytes = 0;  ///< bytes that the host fills, copies to the device or reads back
};

/// Seconds for a step on a device of that kind: as asked for, or so many that only a hanging step exceeds them.
/// - The host: 60 s and 5 s per GFLOP, which a single slow core manages.
/// - A GPU: the time to start, the time of the work at a thousandth of its peak, and its bytes at 0.25 GB/s.
/// - A device without a clock of its own executes instruction by instruction: ten times the host's time.
double step_timeout_seconds(std::optional<double> asked, const StepWork& work, const DeviceKind& kind);

}  // namespace convladder
