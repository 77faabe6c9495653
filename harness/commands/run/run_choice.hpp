// What is to be run and how: the options that `run` and `plan` have in common.
#pragma once

#include "harness/commands/case_selection.hpp"
#include "harness/measure/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// What they are parsed into before they are checked.
struct RunChoice {
  RunOptions options;
  CaseSelection selection;
  bool leave_one_out = false;
  bool all = false;
};

/// Which cases, and how they are measured.
void add_run_choice(CLI::App& run, RunChoice& a);

/// Completes `options`: what was typed as text, and what nobody chose. Throws UserError.
void apply_run_choice(const CLI::App& run, RunChoice& a);

}  // namespace convladder
