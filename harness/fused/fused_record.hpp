// What fused.json, the record of `convladder fused`, holds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/fused/fused_case.hpp"

namespace convladder {

/// A case and what came of it.
struct FusedResult {
  FusedCase planned;
  FusedOutcome outcome;
};

/// `cases[]` of the record; `input_kind` is empty for a case that was not run.
nlohmann::ordered_json fused_case_json(const FusedResult& result, const std::string& input_kind);

/// `context.options` of the record.
nlohmann::ordered_json fused_options_json(const FusedOptions& options);

/// The fused variants of the plan and the stages they build on: `variants[]` of the record.
nlohmann::ordered_json fused_variants_json(const std::vector<FusedCase>& plan);

}  // namespace convladder
