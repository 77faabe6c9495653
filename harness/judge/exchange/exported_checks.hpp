// Findings of the simulated device's checkers as cases of an export: the JSON of `check`, of ladders and of files, and
// of `simulate` for kernels and for whole programs.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/exchange/exported.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// The rule of a lint begins so: "lint-barrier".
inline constexpr const char* kLintRule = "lint-";

/// "check", "simulation", "simulated program" or "lints", by the structure where the JSON names no kind; empty for all
/// others.
std::string kind_of_checks(const JsonPlace& place);

/// The cases of such a JSON: a case of `check`, a kernel of a file, a launch, or a program and each of its processes.
/// Throws UserError.
std::vector<ExportedCase> exported_checks(const JsonPlace& place, const std::string& kind);

/// A list of findings, in which each has the fields of simulated::Finding. Throws UserError.
std::vector<ExportedFinding> exported_findings(const JsonPlace& list);

}  // namespace convladder
