// One small call of each variant, from which the time that a run takes is predicted.
#pragma once

#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// Times one call of every variant on every layer at a small batch, so that the estimate is based on this machine. A
/// device without a clock gives no time to learn from.
void probe_variants(const std::vector<CaseGroup>& plan, const RunOptions& options, const ImageSet& images,
                    Estimator& estimator);

}  // namespace convladder
