// The lists of what can be run, as JSON: `convladder list --format json`. Each function returns the whole text.
#pragma once

#include <string>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "ladders/ladder_folder.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// The variants of layers around the convolutions, one family after the other.
std::vector<ProblemVariant> layer_variants();
/// The fused variants, each of which replaces a stage and the operators after it.
std::vector<ProblemVariant> fused_variants();
/// Whether networks take the variant where nobody names another.
bool is_default(const ProblemVariant& one);

/// {"variants", "fused_variants", "whole_networks", "operators", "problems", "layers", "devices"}: all of this build.
std::string variants_json_text();
/// {"name", "title", "solve", "reference", "dimensions", "sizes", "counted_sizes", "stages"}
std::string folder_json_text(const LadderFolder& folder);
/// {"name", "title", "sizes", "stages"}
std::string problem_json_text(const Problem& problem);
/// [{"kernel", "grid", "block", "dynamic_shared_bytes"}]
std::string launches_json_text(const std::vector<KernelLaunch>& launches);
/// {"metrics": [{"title", "name", "unit", "definition", "note", "modelled"}]}: those of the simulated device.
std::string metrics_json_text();

}  // namespace convladder
