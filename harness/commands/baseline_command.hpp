// `convladder baseline`: the counter gate. What the simulated device counts is exact, so it is compared exactly with
// what was recorded in the repository, and a changed compiler is reported as such.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct BaselineArguments {
  std::string action;  ///< "check" or "update"
  std::string folder = "results/baseline";
  std::vector<std::string> networks;
  std::vector<std::string> variants;
  std::vector<std::string> compilers;
  bool all = false;
  std::string format = "text";
};

void add_baseline_options(CLI::App& baseline, BaselineArguments& arguments);

/// Returns the exit code: 0 all is the same, or was written; 1 a counter moved; 2 a case has nothing to be compared
/// with. Throws UserError for bad input.
int baseline_command(const BaselineArguments& arguments);

}  // namespace convladder
