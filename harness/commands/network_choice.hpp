// The options that choose networks and how they are run, which `network` and `profile` have in common.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/networks/network_plan.hpp"
#include "harness/measure/plan/options.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// Options that are text on the command line and something else in NetworkOptions.
struct NetworkSelection {
  std::vector<std::string> variants;
  std::vector<std::string> batches;
};

/// Adds the options that choose what is run.
void add_network_choice_options(CLI::App& command, NetworkOptions& options, NetworkSelection& selection);
/// Fills variants and batches of the options. Throws UserError for batches that are not numbers.
void apply_network_selection(const NetworkSelection& selection, NetworkOptions& options);

/// The cases that the options choose. Throws UserError, also where none is left.
std::vector<NetworkCase> planned_networks(const NetworkOptions& options);

}  // namespace convladder
