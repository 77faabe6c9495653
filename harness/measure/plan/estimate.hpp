// How long cases take: predicted from the times of the same variant on the same layer, or, on a GPU before any of them
// was seen, from the device's peak.
#pragma once

#include <map>
#include <string>

#include "devices/device_registry.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

class Estimator {
 public:
  explicit Estimator(const RunOptions& options) : options_(&options) {}

  /// Records the seconds of one call of that variant on that layer for that batch.
  void learn(const PlannedCase& planned, double call_seconds);
  /// Predicted seconds from the start of the case to its end; 0 for one that does not run.
  double case_seconds(const PlannedCase& planned) const;
  /// Predicted seconds before the first of a group's cases: inputs and the float64 reference; 0 if none runs.
  double group_seconds(const CaseGroup& group) const;

  /// Whether a small call of each variant tells more than it costs. On a GPU it does not: starting a process takes
  /// longer than most cases' calls.
  static bool is_worth_a_call(const DeviceKind& kind) { return kind.has_clock && kind.speed == nullptr; }

 private:
  static std::string key(const PlannedCase& planned) {
    return planned.device + "/" + std::string(planned.variant.info.name) + "/" + planned.work.name();
  }
  double unseen_call_seconds(const DeviceKind& kind, const ProblemSize& shape) const;
  double start_seconds(const DeviceKind& kind) const;

  const RunOptions* options_;
  std::map<std::string, double> seconds_per_image_;
  mutable std::map<std::string, DeviceSpeed> speeds_;  ///< each asked for once
};

/// Predicted seconds of a whole network's case on a device: its passes, each of which takes `pass_flop`, and comparing
/// every step of every image.
double network_seconds(const DeviceKind& kind, double budget_seconds, double pass_flop);

}  // namespace convladder
