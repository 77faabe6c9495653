// Explanations as sections of a report.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/explain/explanation.hpp"
#include "support/report.hpp"

namespace convladder {

/// Adds the explanations as tables, for the GPUs asked for. Every table says what is predicted and what is measured.
void add_explanation(Report& report, const std::vector<ExplainedGroup>& groups, const std::vector<std::string>& gpus);

}  // namespace convladder
