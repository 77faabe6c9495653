// `convladder train`: weights for a network, from a data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet. Empty texts and zeros are options that were not given.
struct TrainArguments {
  std::vector<std::string> networks;
  std::string data_folder;
  std::string quality = "high";
  std::uint64_t seed = 1;
  std::string epochs;
  std::string batch;
  std::string images;
  std::string split;
  std::string test_images;
  std::string output;
  double learning_rate = 0;
  bool quiet = false;
};

void add_train_options(CLI::App& train, TrainArguments& arguments);

/// Returns the exit code. Throws UserError, DataError or TrainingError for what cannot be done.
int train_command(const TrainArguments& arguments);

}  // namespace convladder
