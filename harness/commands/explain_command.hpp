// `convladder explain`: why a stage is faster, from a recorded run.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct ExplainArguments {
  std::string run;
  std::vector<std::string> gpus = {"h100"};
  std::string case_filter;
  std::string format = "text";
};

void add_explain_options(CLI::App& explain, ExplainArguments& arguments);

/// Prints; returns the exit code, 0. Throws UserError for a file that is no run, one without counters, and bad options.
int explain_command(const ExplainArguments& arguments);

}  // namespace convladder
