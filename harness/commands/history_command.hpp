// `convladder history`: recorded runs as trends.
#pragma once

#include <string>
#include <vector>

#include "harness/regression/history/history.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct HistoryArguments {
  std::vector<std::string> paths;
  HistoryOptions options;
  std::vector<std::string> batches;
  std::string index;  ///< empty: kIndexName in the first folder
  bool no_index = false;
  std::string json;
  std::string markdown;
};

/// What the index is called in the folder of the runs.
constexpr const char* kIndexName = "history-index.jsonl";

void add_history_options(CLI::App& history, HistoryArguments& arguments);

/// Returns the exit code: 0, or 2 if something that is no readable run was passed over. Throws UserError for bad
/// options, and if nothing is left to show.
int history_command(const HistoryArguments& arguments);

}  // namespace convladder
