// The options that choose what is run and how, which `run` and `plan` have in common.
#pragma once

#include "harness/commands/case_selection.hpp"
#include "harness/measure/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The parsed options, before they are checked.
struct RunChoice {
  RunOptions options;
  CaseSelection selection;
  bool leave_one_out = false;
  bool all = false;
};

/// Adds the options that choose cases, and how they are measured.
void add_run_choice(CLI::App& run, RunChoice& a);

/// Completes `options` with the choices typed as text and with the defaults. Throws UserError.
void apply_run_choice(const CLI::App& run, RunChoice& a);

}  // namespace convladder
