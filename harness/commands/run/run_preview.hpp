// `convladder run --dry-run`: what would be run, and how long it would take.
#pragma once

#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// Prints the cases with the time predicted for each, or why it is not run. Times a small call of each variant for
/// that, on the host. Returns the exit code.
int list_cases(const std::vector<CaseGroup>& plan, const RunOptions& options, const ImageSet& images);

}  // namespace convladder
