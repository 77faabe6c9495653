// A comparison as text for a terminal, as Markdown for a review, as JSON for programs.
#pragma once

#include <string>

#include "harness/judge/compare/comparison.hpp"

namespace convladder {

/// A table for each group of timed cases, the other cases by verdict with their reasons, notes, and a last line
/// with the numbers of verdicts. At most 100 columns, unless a name alone is wider.
std::string comparison_text(const Comparison& comparison);

/// The comparison as one Markdown table, which shows all names as plain text.
std::string comparison_markdown(const Comparison& comparison);

/// The comparison as JSON {"kind": "comparison", "base", "new", "limits", "exit_code", "counts", "notes", "cases"};
/// changes are fractions of the base, 0.1 for a time that grew by 10%. docs/use/compare.md describes it.
std::string comparison_json_text(const Comparison& comparison);

}  // namespace convladder
