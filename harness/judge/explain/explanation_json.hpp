// Reads the run that is explained, and writes explanations as JSON.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/explain/explained_steps.hpp"
#include "harness/judge/explain/explanation.hpp"

namespace convladder {

/// Reads a run; `gpu` is the one whose predictions are described. Throws UserError, in one line, for a file that is no
/// run of this program.
ExplainedRun read_explained_run(const std::string& file, const std::string& gpu);

/// Everything, for all GPUs asked for, as {"kind": "explanation", "groups", "ladders"}.
std::string explanation_json_text(const std::vector<ExplainedGroup>& groups, const std::vector<std::string>& gpus,
                                  const std::vector<ExplainedLadder>& ladders);

}  // namespace convladder
