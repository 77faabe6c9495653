// `convladder train`: trains the weights of a network on a data set.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "network/training/training.hpp"
#include "network/training/training_data.hpp"
#include "network/weights_files.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/progress.hpp"
#include "support/text.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

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
  std::string grid;
  double learning_rate = 0;
  bool quiet = false;
};

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kImagesSeen = 180'000;  // by default: three passes over MNIST, more over a smaller set
constexpr int kMostDefaultEpochs = 60;
constexpr int kMostEpochs = 10'000;
constexpr int kLargestTrainingBatch = 4096;
constexpr int kLargestGrid = 4096;
constexpr double kLowAccuracy = 0.6;      // of the training images; "low" stops there
constexpr double kLowLearningRate = 0.1;  // share of the one for "high", so as not to step far past kLowAccuracy

constexpr const char* kTrainFooter = R"(examples:
  convladder train --network lenet86                     on the built-in synthetic images, a minute or two
  convladder train --network lenet28 --data mnist/       on IDX files: train-* to learn from, t10k-* to test on
  convladder train --network lenet28 --data mnist/ --quality low     stopped early, so that some answers are wrong on purpose
  convladder train --network lenet28 --data sample/ --split 600      one file: the first 600, tested on the others
  convladder train --network all --seed 7 --epochs 3
  convladder train --network my_network.json --output my_weights.safetensors

The weights go to ~/.cache/convladder/weights, where `network` finds them; docs/use/weights.md says more.
exit codes: 0 trained and written - 3 bad input, or nothing could be written: one line says what)";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<const Network*> networks_of(const std::vector<std::string>& names) {
  std::vector<const Network*> networks;
  for (const std::string& name : names) {
    if (name == "all") {
      for (const Network& network : built_in_networks()) networks.push_back(&network);
    } else {
      networks.push_back(&find_network(name));
    }
  }
  return networks;
}

TrainingOptions options_of(const TrainArguments& arguments, int images) {
  TrainingOptions options;
  options.seed = arguments.seed;
  options.epochs = std::clamp((kImagesSeen + images - 1) / images, 1, kMostDefaultEpochs);
  if (!arguments.epochs.empty()) options.epochs = parse_whole_number("--epochs", arguments.epochs, 1, kMostEpochs);
  if (!arguments.batch.empty())
    options.batch = parse_whole_number("--batch", arguments.batch, 1, kLargestTrainingBatch);
  if (!arguments.grid.empty()) options.grid_side = parse_whole_number("--grid", arguments.grid, 1, kLargestGrid);
  const bool low = arguments.quality == "low";
  if (low) {
    options.stop_at_accuracy = kLowAccuracy;
    options.learning_rate *= kLowLearningRate;
  }
  if (arguments.learning_rate > 0) options.learning_rate = arguments.learning_rate;
  return options;
}

std::string accuracy_text(const EpochResult& result) {
  const ProportionInterval interval = proportion_interval(result.right, result.tested);
  return fmt::format("accuracy {:.4f} ({} of {}, 95% interval {:.4f} to {:.4f})",
                     static_cast<double>(result.right) / result.tested, result.right, result.tested, interval.low,
                     interval.high);
}

/// Checks the folder before the training, which may take minutes.
void require_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  if (fs::is_directory(folder, error)) return require_writable(file);
  throw UserError(fmt::format("cannot write {}: there is no folder {}", file.string(), folder.string()));
}

/// The metadata of a weights file: everything that its bytes depend on, nothing else.
std::map<std::string, std::string> metadata_of(const Network& network, const TrainArguments& arguments,
                                               const TrainingData& data, const TrainingOptions& options,
                                               const TrainedNetwork& trained) {
  std::map<std::string, std::string> metadata{{"network", network.name},
                                              {"dataset", dataset_key(*data.training().images)},
                                              {"quality", arguments.quality},
                                              {"images", data.description()},
                                              {"seed", fmt::to_string(options.seed)},
                                              {"updates", fmt::to_string(trained.last.updates)},
                                              {"epochs", fmt::to_string(trained.last.epoch)},
                                              {"batch", fmt::to_string(options.batch)},
                                              {"learning_rate", fmt::to_string(options.learning_rate)},
                                              {"momentum", fmt::to_string(options.momentum)},
                                              {"result", accuracy_text(trained.last)},
                                              {"library", trained.library},
                                              {"threads", fmt::to_string(trained.threads)}};
  if (options.grid_side > 0) metadata["grid"] = fmt::to_string(options.grid_side);
  return metadata;
}

fs::path output_file(const Network& network, const TrainArguments& arguments, const TrainingData& data) {
  if (!arguments.output.empty()) {
    require_folder(arguments.output);
    return arguments.output;
  }
  const fs::path folder = weights_cache_folder();
  if (folder.empty())
    throw UserError(
        "neither XDG_CACHE_HOME nor HOME is an absolute path, so there is no folder for the weights: use --output");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError(fmt::format("cannot create the folder {}: {}", folder.string(), error.message()));
  const fs::path file = folder / weights_file_name(network, dataset_key(*data.training().images), arguments.quality);
  require_writable(file);
  return file;
}

void train_one(const Network& network, const TrainArguments& arguments, const TrainingData& data,
               const TrainingOptions& options, Progress& progress) {
  const fs::path file = output_file(network, arguments, data);
  const Clock::time_point start = Clock::now();
  Clock::time_point epoch_start = start;
  TrainingListener listener;
  listener.update = [&](std::int64_t done, std::int64_t all) {
    const double left = seconds_since(start) / static_cast<double>(done) * static_cast<double>(all - done);
    progress.show(fmt::format("{}: update {} of {}", network.name, done, all), left);
  };
  listener.epoch = [&](const EpochResult& result) {
    progress.finished(fmt::format("  epoch {}/{}  loss {:.4f}  {}  {}", result.epoch, options.epochs, result.loss,
                                  accuracy_text(result), duration_text(seconds_since(epoch_start))));
    epoch_start = Clock::now();
  };
  if (!arguments.quiet) fmt::print("{}: {}\n", network.name, data.description());
  const TrainedNetwork trained = train(network, data.training(), data.test(), options, listener);
  const std::string content = weights_file_content(
      network, trained.weights, metadata_of(network, arguments, data, options, trained), options.grid_side);
  write_file_atomically(file, content);
  const double accuracy = static_cast<double>(trained.last.right) / trained.last.tested;
  const bool is_low = arguments.quality == "high" && accuracy < kLowAccuracy;
  fmt::print("{}: weights '{}', {}{}, {} updates, {}: {}\n", network.name, arguments.quality,
             accuracy_text(trained.last), is_low ? ", which is not high: more --epochs or more images would help" : "",
             trained.last.updates, duration_text(seconds_since(start)), file.string());
}

void add_train_options(CLI::App& train, TrainArguments& arguments) {
  add_list(train, "--network", arguments.networks, "names, a network file's path, or all")->required();
  train.add_option("--data", arguments.data_folder, "folder of IDX files (default: the built-in synthetic images)");
  train
      .add_option("--quality", arguments.quality,
                  "high, or low: stopped as soon as 0.6 of the images are classified correctly")
      ->check(CLI::IsMember({"high", "low"}));
  train.add_option("--images", arguments.images, "train on the first N images (default: all)");
  train.add_option("--test-images", arguments.test_images, "A:B: test on the test images A to B-1 (default: all)");
  train.add_option("--split", arguments.split,
                   "if one file holds all images: train on its first N, test on the others");
  train.add_option("--epochs", arguments.epochs, "passes over the images (default: as many as see 180000, at most 60)");
  train.add_option("--seed", arguments.seed, "seed of the starting weights and the order of the images (default 1)")
      ->check(seed_error);
  train.add_option("--batch", arguments.batch, "images per update (default 64)");
  train
      .add_option("--learning-rate", arguments.learning_rate,
                  "learning rate of the first update (default 0.02, low: 0.002)")
      ->check(number_between(1e-9, 1e3));
  train.add_option("--grid", arguments.grid,
                   "a small file: fully connected layers keep N x N weights for each map of their input");
  train.add_option("--output", arguments.output, "the weights file (default: in the user's cache, by its name)");
  train.add_flag("--quiet", arguments.quiet, "print only the result");
}

int train_command(TrainArguments& arguments, const CommandLine& /*command_line*/) {
  const std::vector<const Network*> networks = networks_of(arguments.networks);
  if (networks.size() > 1 && !arguments.output.empty()) {
    throw UserError(fmt::format("--output is one file, but {} networks are to be trained", networks.size()));
  }
  for (const Network* network : networks) {
    if (const std::string reason = training_unsupported(*network); !reason.empty()) {
      throw TrainingError(fmt::format("{} cannot be trained: {}", network->name, reason));
    }
  }
  const TrainingData data({.folder = arguments.data_folder,
                           .images = arguments.images,
                           .split = arguments.split,
                           .test_images = arguments.test_images});
  const TrainingOptions options = options_of(arguments, data.training().count);
  Progress progress(arguments.quiet ? nullptr : stdout, static_cast<int>(networks.size()) * options.epochs);
  for (const Network* network : networks) train_one(*network, arguments, data, options, progress);
  return kExitOk;
}

const CommandRegistration train_registration({.name = "train",
                                              .group = CommandGroup::hidden,
                                              .help = "train a network's weights",
                                              .footer = kTrainFooter,
                                              .add = command_of<TrainArguments, add_train_options, train_command>});

}  // namespace
}  // namespace convladder
