// A comparison as a report, and as JSON for programs.
#pragma once

#include <string>

#include "harness/judge/compare/comparison.hpp"
#include "support/report.hpp"

namespace convladder {

/// A table for each group of timed cases, the other cases by verdict with their reasons, notes, and a last line
/// with the numbers of verdicts; as Markdown one table.
Report comparison_report(const Comparison& comparison);

/// The comparison as JSON {"kind": "comparison", "base", "new", "limits", "exit_code", "counts", "notes", "cases"};
/// changes are fractions of the base, 0.1 for a time that grew by 10%. docs/use/compare.md describes it.
std::string comparison_json_text(const Comparison& comparison);

}  // namespace convladder
