// `convladder network`: whole networks, any convolution variant plugged in.
#pragma once

#include <string>
#include <vector>

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
  bool quiet = false;
};

/// The options that choose what is run; shared with `profile`.
void add_network_choice_options(CLI::App& command, NetworkArguments& arguments);
void add_network_options(CLI::App& network, NetworkArguments& arguments);

/// Options from arguments. Throws UserError for numbers that are none.
NetworkOptions network_options_of(const NetworkArguments& arguments);

/// Returns the exit code. Throws UserError for bad input.
int network_command(const NetworkArguments& arguments, const std::vector<std::string>& command_line);

}  // namespace convladder
