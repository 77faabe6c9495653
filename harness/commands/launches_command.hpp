// `convladder launches`: which kernels one call of a CUDA variant launches, known without a GPU.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct LaunchesArguments {
  std::string variant;
  std::string layer;
  std::string shape;
  std::string batch = "1";
  bool as_json = false;
  bool only_count = false;
};

void add_launches_options(CLI::App& launches, LaunchesArguments& arguments);

/// Returns the exit code. Throws UserError for bad input, and where a library decides for itself what it launches.
int launches_command(const LaunchesArguments& arguments);

}  // namespace convladder
