// `convladder leave-one-out`: a run of the stages that have variants without one of their ideas, and of these.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/case_selection.hpp"
#include "harness/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

struct LeaveOneOutArguments {
  RunOptions options;
  CaseSelection selection;
  std::string output;
  bool quiet = false;
};

void add_leave_one_out_options(CLI::App& command, LeaveOneOutArguments& arguments);

/// Runs, records and prints. Returns the exit code; throws UserError.
int leave_one_out_command(LeaveOneOutArguments& arguments, const std::vector<std::string>& command_line);

}  // namespace convladder
