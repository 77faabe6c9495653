// How long cases take: predicted from what was seen of the same variant on the same layer.
#pragma once

#include <map>
#include <string>

#include "harness/plan/plan.hpp"

namespace convladder {

class Estimator {
 public:
  explicit Estimator(const RunOptions& options) : options_(&options) {}

  /// Records the time of one call of that variant on that layer for that batch.
  void learn(const PlannedCase& planned, double call_seconds);
  /// Predicted seconds from the start of the case to its end; 0 for one that does not run.
  double case_seconds(const PlannedCase& planned) const;

 private:
  static std::string key(const PlannedCase& planned) {
    return planned.device + "/" + std::string(planned.variant.info.name) + "/" + planned.work.name();
  }
  const RunOptions* options_;
  std::map<std::string, double> seconds_per_image_;
};

}  // namespace convladder
