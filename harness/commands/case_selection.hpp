// Which cases: the options that `run`, `duel` and `selftest` have in common.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// What is text on the command line and something else in RunOptions.
struct CaseSelection {
  std::string ladder;  ///< a folder, or a problem's name
  std::vector<std::string> batches;
  std::vector<std::string> shapes;
};

/// --problem, --size, --family, --variant, --network, --layer, --device, --batch, --shape, --data and --seed.
/// `default_batches` is what the help says of a command without --batch.
void add_case_selection(CLI::App& command, RunOptions& options, CaseSelection& selection, const char* default_batches);

/// Fills `batches` and `shapes` of the options. Throws UserError.
void apply_case_selection(const CaseSelection& selection, RunOptions& options);

}  // namespace convladder
