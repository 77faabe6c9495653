// The cases that `check` and `mutate` run: CUDA variants of problems on the simulated device, and their options.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/plan/plan.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The options, not checked yet.
struct CheckSelection {
  std::string ladder;  ///< a folder, or a problem's name
  std::vector<std::string> problems;
  std::vector<std::string> sizes;
  std::vector<std::string> variants;
  std::vector<std::string> networks;
  std::vector<std::string> layers;
  std::vector<std::string> shapes;
  std::vector<std::string> batches;

  /// The first option that is given, "--batch"; empty if none is.
  std::string given() const;
};

/// All but the word for the ladder.
void add_check_selection(CLI::App& command, CheckSelection& selection);

/// How many sizes are taken where none is named.
enum class UnnamedSizes {
  all,  ///< of convolutions every layer of every network and some awkward ones; of folders those that are counted
  one   ///< a small one of convolutions, the first counted one of other problems
};

/// The cases to check, each size once: layers of several networks may have the same one. Throws UserError, also for a
/// folder without a CUDA stage and for options that make no sense for a folder.
std::vector<CaseGroup> checked_groups(CheckSelection& selection, UnnamedSizes sizes = UnnamedSizes::all);

}  // namespace convladder
