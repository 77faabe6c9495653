// --case: only cases whose id matches a regular expression.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace convladder {

constexpr const char* kCaseHelp = "only cases whose id matches this regular expression";

/// Throws UserError, naming --case, for what is not a regular expression. An empty one matches everything.
inline std::regex case_expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw UserError(fmt::format("--case '{}' is not a regular expression: {}", text, error.what()));
  }
}

/// Keeps the cases whose `id` matches. Throws UserError if none is left.
template <class Case>
void keep_cases(std::vector<Case>& cases, const std::string& text) {
  const std::regex expression = case_expression(text);
  std::erase_if(cases, [&](const Case& one) { return !std::regex_search(one.id, expression); });
  if (cases.empty()) throw UserError(fmt::format("no case remains: --case '{}' matches none", text));
}

/// What --dry-run says of cases that have an `id`, and `skipped` or `unsupported` if they do not run. Nothing is run.
template <class Case>
void print_planned(const std::vector<Case>& cases, const char* note) {
  for (const Case& one : cases) {
    const std::string& why = one.skipped.empty() ? one.unsupported : one.skipped;
    fmt::print("{}{}\n", one.id, why.empty() ? "" : ": " + why);
  }
  fmt::print("{} case{}, {} to be run{}\n", cases.size(), cases.size() == 1 ? "" : "s",
             std::ranges::count_if(cases, &Case::runs), note);
}

}  // namespace convladder
