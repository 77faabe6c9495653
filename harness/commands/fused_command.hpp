// `convladder fused`: fused variants beside the sum of the separate operators.
#pragma once

#include <string>
#include <vector>

#include "harness/fused/fused_plan.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct FusedArguments {
  FusedOptions options;
  std::vector<std::string> batches;
  std::string output;
  int repetitions = 0;
  double timeout = 0;
  bool quiet = false;
};

void add_fused_options(CLI::App& fused, FusedArguments& arguments);

/// Returns the exit code. Throws UserError for bad input.
int fused_command(const FusedArguments& arguments, const std::vector<std::string>& command_line);

}  // namespace convladder
