// `convladder simulate`: runs a kernel of any PTX file on the simulated device, checks it and counts.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct SimulateArguments {
  std::string file;
  std::string entry;
  std::string grid = "1";
  std::string block = "1";
  std::string shared = "0";
  std::vector<std::string> arguments;
  std::vector<std::string> outputs;
  std::string json;
  std::string check = "all";
  std::string threads;
  bool list = false;
};

void add_simulate_options(CLI::App& simulate, SimulateArguments& arguments);

/// Returns the exit code: 0 if nothing was found, 1 if something was. Throws UserError for bad input and ptx::PtxError
/// for PTX that is not supported.
int simulate_command(const SimulateArguments& arguments);

}  // namespace convladder
