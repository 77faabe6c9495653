// `convladder sweep`: tries what a variant could take for a layer, puts it in order, and writes the tuning tables.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/case_selection.hpp"
#include "harness/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct SweepArguments {
  RunOptions options;
  CaseSelection selection;
  std::string configuration;  ///< only configurations that agree with it; empty: all
  int limit = 24;             ///< configurations of a variant on a layer
  std::string gpu;            ///< for which a device without a clock predicts; empty: it counts
  int repetitions = 0;
  double timeout = 0;
  std::string output;
  bool update_table = false;
  std::string tables = "variants/tuning";
  bool quiet = false;
};

void add_sweep_options(CLI::App& sweep, SweepArguments& arguments);

/// Returns the exit code. Throws UserError for bad input.
int sweep_command(SweepArguments arguments, const std::vector<std::string>& command_line);

}  // namespace convladder
