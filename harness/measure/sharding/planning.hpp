// From what is to be run to a plan in shards.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/sharding/run_plan.hpp"

namespace convladder {

/// "cpu/lenet28.conv1/10"
std::string group_id(const CaseGroup& group);

/// `context.program` and the checksum of the program's file: a build with other flags of the processor says the same of
/// itself otherwise.
nlohmann::ordered_json planned_program();

/// SHA-256 of what the stages of a ladder's folder, and those from outside, are made of; empty without any.
std::string sources_of(const std::vector<CaseGroup>& plan);

/// Its `id` follows from the rest. `seconds` are predicted, one for each group.
RunPlan make_run_plan(const RunOptions& options, const std::vector<CaseGroup>& plan, const std::vector<double>& seconds,
                      const ImageSet& images, int shards);

}  // namespace convladder
