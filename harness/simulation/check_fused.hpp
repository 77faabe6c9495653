// The fused variants' part of `convladder check`: convolutions with activation and pooling under the checkers.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/plan.hpp"
#include "harness/simulation/checked_case.hpp"
#include "variants/fused/fused_variant.hpp"

namespace convladder {

/// A layer that a fused variant may replace.
struct FusedWork {
  LayerWork convolution;  ///< with the batch
  FusedShape shape;
};

/// Those of the networks, and one for each batch.
std::vector<FusedWork> fused_works(const std::vector<std::string>& networks, const std::vector<int>& batches);

/// Every fused variant of family cuda, from every compiler's PTX, on all cores; those that the settings take.
std::vector<CheckedCase> check_fused(const FusedWork& work, const CheckSettings& settings);

}  // namespace convladder
