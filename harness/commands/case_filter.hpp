// --case: only cases whose id matches a regular expression.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/reasons.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

constexpr const char* kCaseHelp = "only cases whose id matches this regular expression";

/// Parses the value of --case. Throws UserError, naming --case, if it is not a regular expression.
inline TextPattern case_pattern(const std::string& text) { return {"--case", text}; }

/// Keeps the cases whose `id` matches. Throws UserError if none is left.
template <class Case>
void keep_cases(std::vector<Case>& cases, const std::string& text) {
  const TextPattern pattern = case_pattern(text);
  std::erase_if(cases, [&](const Case& one) { return !pattern.matches(one.id); });
  if (cases.empty()) throw UserError(fmt::format("no case remains: --case '{}' matches none", text));
}

/// Prints the cases for --dry-run; each has an `id`, and `skipped` or `unsupported` if it does not run. Nothing is run.
template <class Case>
void print_planned(const std::vector<Case>& cases, const std::string& note) {
  Reasons reasons;
  for (const Case& one : cases) {
    const std::string& why = one.skipped.empty() ? one.unsupported : one.skipped;
    if (!why.empty()) reasons.add(why, one.id);
    fmt::print("{}{}\n", one.id, why.empty() ? "" : ": not run");
  }
  fmt::print("{}", reasons.text());
  fmt::print("{} case{}, {} to be run{}\n", cases.size(), cases.size() == 1 ? "" : "s",
             std::ranges::count_if(cases, &Case::runs), note);
}

}  // namespace convladder
