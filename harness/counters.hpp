// Counters of a case: of its kernels, for its whole batch.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// The counters of a batch from those of a part of it.
class ScaledCounters {
 public:
  /// `times` such parts.
  ScaledCounters(std::vector<KernelCounters> part, int times);
  /// And a smaller one.
  void add(const std::vector<KernelCounters>& rest);
  /// Sums are scaled; ratios are those of the part.
  const std::vector<KernelCounters>& result() const { return counters_; }

 private:
  std::vector<KernelCounters> counters_;
};

/// `counters` of a case in the record. `images` of the batch were executed; `exact` says whether scaling them to the
/// batch is exact because parts of the batch were found to do the same.
nlohmann::ordered_json counters_json(const std::vector<KernelCounters>& kernels, int images, int batch,
                                     bool exact = true);

}  // namespace convladder
