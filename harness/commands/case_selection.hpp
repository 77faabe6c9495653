// The options that choose cases, which `run`, `duel` and `selftest` have in common.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// Options that are text on the command line and something else in RunOptions.
struct CaseSelection {
  std::string ladder;  ///< a folder, or a problem's name
  std::vector<std::string> batches;
  std::vector<std::string> shapes;
};

/// Adds --problem, --size, --family, --variant, --network, --layer, --device, --batch, --shape, --data and --seed.
/// `default_batches` is the default that the help gives for --batch.
void add_case_selection(CLI::App& command, RunOptions& options, CaseSelection& selection, const char* default_batches);

/// Fills `batches` and `shapes` of the options. Throws UserError.
void apply_case_selection(const CaseSelection& selection, RunOptions& options);

}  // namespace convladder
