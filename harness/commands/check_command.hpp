// `convladder check`: the CUDA variants and operators on the simulated device under the checkers, from every compiler's
// PTX.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct CheckArguments {
  std::string problem = "convolution";
  std::vector<std::string> sizes;
  std::vector<std::string> variants;
  std::vector<std::string> operators;
  std::vector<std::string> networks;
  std::vector<std::string> layers;
  std::vector<std::string> shapes;
  std::vector<std::string> batches;
  std::string checkers = "all";
  bool as_json = false;
};

void add_check_options(CLI::App& check, CheckArguments& arguments);

/// Returns the exit code: 0 if every case is right and nothing was found. Throws UserError for bad input.
int check_command(const CheckArguments& arguments);

}  // namespace convladder
