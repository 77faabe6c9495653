// `convladder published`: the figures of others that the program was built with.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct PublishedArguments {
  std::string name;  ///< empty: a list of all
  bool as_json = false;
  bool as_csv = false;
  std::string layout = "nvprof";  ///< of profiles
  double cut_percent = 100;
  bool full_names = false;
};

void add_published_options(CLI::App& published, PublishedArguments& arguments);

/// Returns the exit code. Throws UserError for bad input.
int published_command(const PublishedArguments& arguments);

}  // namespace convladder
