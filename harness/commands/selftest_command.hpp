// `convladder selftest`: duels whose answer is known, on this machine, now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/isolation/child_process.hpp"
#include "harness/plan/case_selection.hpp"
#include "harness/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct SelftestArguments {
  RunOptions options;
  CaseSelection selection;
  std::string base = kThisProgram;
  std::string now = kThisProgram;
  bool full = false;
  std::vector<int> levels;
  int runs = 0;
  double budget = 0;
  int threads = 1;
  std::string neighbour = "none";
  std::string json;
  const CLI::App* command = nullptr;
};

void add_selftest_options(CLI::App& selftest, SelftestArguments& arguments);

/// Returns the exit code: 0 nothing contradicts what a duel claims, 1 something does, 2 `--full` could not show it.
/// Throws UserError.
int selftest_command(SelftestArguments& arguments, const std::vector<std::string>& command_line);

}  // namespace convladder
