// Turns the options of `run` into a record.
#pragma once

#include <string>
#include <vector>

#include "harness/commands/recorded_command.hpp"
#include "harness/judge/exchange/google_output.hpp"
#include "harness/measure/plan/options.hpp"

namespace convladder {

/// Options of one start of the command that are not settings of the run.
struct RunInvocation {
  RecordArguments record;
  bool no_table = false;
  bool verbose = false;    ///< a line for each case, every table, every note
  bool no_report = false;  ///< of a ladder's folder: draws no report
  bool no_reuse = false;   ///< of a ladder's folder: measures unchanged stages as well
  GoogleOutput google;
  std::vector<std::string> command_line;
};

/// Runs the cases, or shows what would be run. Returns the exit code; throws UserError.
int run_cases(RunOptions options, const RunInvocation& invocation);

}  // namespace convladder
