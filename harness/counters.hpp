// Counters of a case: of its kernels, for its whole batch.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// What some images of a batch were counted to do, kernel by kernel.
struct CountedImages {
  int images = 0;
  std::vector<KernelCounters> kernels;
};

/// The counters of a batch of which not all images were executed.
class BatchCounters {
 public:
  /// `part` and `whole` are counts of the batch's first images, the whole twice as many as the part; `rest` is a count
  /// of the first `batch % part.images` images, or empty where nothing is left. Sums grow with the parts; traffic
  /// below caches is extrapolated as a straight line through part and whole; ratios are those of the whole.
  BatchCounters(const CountedImages& part, const CountedImages& whole, const CountedImages& rest, int batch);

  const std::vector<KernelCounters>& result() const { return result_; }
  /// Whether the second half of the whole did the very same as the first: then the sums are those of the batch. The
  /// traffic below caches has no part in this.
  bool exact() const { return exact_; }

 private:
  std::vector<KernelCounters> result_;
  bool exact_ = true;
};

/// `counters` of a case in the record: `images` of the batch were executed.
nlohmann::ordered_json counters_json(const std::vector<KernelCounters>& kernels, int images, int batch,
                                     bool exact = true);

}  // namespace convladder
