// Makes a plan in shards from the cases to be run.
#pragma once

#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/sharding/run_plan.hpp"

namespace convladder {

/// "cpu/lenet28.conv1/10"
std::string group_id(const CaseGroup& group);

/// SHA-256 of the sources of stages in a ladder's folder, and of those from outside; empty without any.
std::string sources_of(const std::vector<CaseGroup>& plan);

/// Makes the plan. Its `id` follows from the rest. `seconds` are predicted, one for each group.
RunPlan make_run_plan(const RunOptions& options, const std::vector<CaseGroup>& plan, const std::vector<double>& seconds,
                      const ImageSet& images, int shards);

}  // namespace convladder
