// From the options of `run` to a record.
#pragma once

#include <string>
#include <vector>

#include "harness/commands/recorded_command.hpp"
#include "harness/judge/exchange/google_output.hpp"
#include "harness/measure/plan/options.hpp"

namespace convladder {

/// What belongs to one start of the command and not to the run.
struct RunInvocation {
  RecordArguments record;
  bool no_table = false;
  bool verbose = false;    ///< a line for each case, every table, every note
  bool no_report = false;  ///< of a ladder's folder
  bool no_reuse = false;   ///< likewise
  GoogleOutput google;
  std::vector<std::string> command_line;
};

/// Runs, or shows what would be run. Returns the exit code; throws UserError.
int run_cases(RunOptions options, const RunInvocation& invocation);

}  // namespace convladder
