// Which networks are run, and how: the options that `network` and `profile` have in common.
#pragma once

#include <string>
#include <vector>

#include "harness/networks/network_plan.hpp"
#include "harness/plan/network_options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct NetworkArguments {
  NetworkOptions options;
  std::vector<std::string> batches;
  std::string output;
  std::string isolate = "process";
  int repetitions = 0;
  int chunk = 0;
  double timeout = 0;
  std::string case_filter;
  bool dry_run = false;
  bool quiet = false;
};

/// The options that choose what is run; shared with `profile`.
void add_network_choice_options(CLI::App& command, NetworkArguments& arguments);
/// Options from arguments. Throws UserError for numbers that are none.
NetworkOptions network_options_of(const NetworkArguments& arguments);

/// The cases that the options choose. Throws UserError, also where none is left.
std::vector<NetworkCase> planned_networks(const NetworkOptions& options, const NetworkArguments& arguments);

}  // namespace convladder
