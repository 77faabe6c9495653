// `convladder compare`: two recorded runs against each other.
#pragma once

#include <string>
#include <vector>

#include "harness/statistics/change_verdict.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct CompareArguments {
  std::string base;
  std::string now;
  VerdictLimits limits;
  std::string case_filter;
  std::vector<std::string> controls;
  std::string format = "text";
};

void add_compare_options(CLI::App& compare, CompareArguments& arguments);

/// Returns the exit code: 0 pass, 1 a case regressed, 2 inconclusive, 3 the comparison is not whole. Throws UserError
/// for files that are no runs and for bad options.
int compare_command(const CompareArguments& arguments);

}  // namespace convladder
