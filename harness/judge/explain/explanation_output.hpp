// Explanations as text for the terminal and as Markdown.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/explain/explanation.hpp"

namespace convladder {

/// The explanations as tables of at most 100 columns, for the GPUs asked for. Every table says what is predicted and
/// what is measured.
std::string explanation_text(const std::vector<ExplainedGroup>& groups, const std::vector<std::string>& gpus);
std::string explanation_markdown(const std::vector<ExplainedGroup>& groups, const std::vector<std::string>& gpus);

}  // namespace convladder
