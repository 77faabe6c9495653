// From the options of `run` to a record.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/plan/options.hpp"
#include "harness/records/google_output.hpp"

namespace convladder {

/// What belongs to one start of the command and not to the run.
struct RunInvocation {
  std::filesystem::path output;  ///< empty: results/<host>-<time>
  std::filesystem::path resume;  ///< empty: a new run
  bool dry_run = false;
  bool quiet = false;
  bool no_table = false;
  GoogleOutput google;
  std::vector<std::string> command_line;
};

/// Runs, or shows what would be run. Returns the exit code; throws UserError.
int run_cases(RunOptions options, const RunInvocation& invocation);

}  // namespace convladder
