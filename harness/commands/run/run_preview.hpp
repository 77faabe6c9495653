// `convladder run --dry-run`: the cases that would be run, and how long they would take.
#pragma once

#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// Prints the cases with the time predicted for each, or the reason why it is not run. For that it times a small call
/// of each variant on the host. Returns the exit code.
int list_cases(const std::vector<CaseGroup>& plan, const RunOptions& options, const ImageSet& images);

}  // namespace convladder
