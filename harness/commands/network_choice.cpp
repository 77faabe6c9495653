#include "harness/commands/network_choice.hpp"

#include <CLI/CLI.hpp>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/option_checks.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

constexpr int kLargestNetworkBatch = 1'000'000;

}  // namespace

void add_network_choice_options(CLI::App& command, NetworkArguments& a) {
  const auto list = [&command](const char* name, std::vector<std::string>& values, const char* help) {
    return command.add_option(name, values, help)->delimiter(',')->allow_extra_args(false)->group("Which cases");
  };
  list("--network", a.options.networks, "lenet28, alexnet, ..., or a network file")->required();
  // Not split at commas here: one choice may name a variant for each layer.
  command
      .add_option("--variant", a.options.variants,
                  "names from 'convladder list', or 'all', or conv1=NAME,conv2=NAME; default: the last stage that "
                  "suits each layer")
      ->allow_extra_args(false)
      ->group("Which cases");
  command
      .add_option("--operator", a.options.operators,
                  "an operator other than the default: fully_connected=NAME (see 'convladder list')")
      ->allow_extra_args(false)
      ->group("Which cases");
  list("--device", a.options.devices, "cpu, cuda, simulated; default: cpu, and cuda if there is a GPU");
  list("--batch", a.batches,
       "images per pass (default: the network's own batches that this device finishes in reasonable time)");
  command.add_option("--case", a.case_filter, kCaseHelp)->group("Which cases");
  command.add_option("--data", a.options.data_folder, "folder of IDX files (default: the built-in synthetic images)")
      ->group("Which cases");
  command.add_option("--weights", a.options.weights, "high (default), low, random, or a safetensors file")
      ->group("Which cases");
  command
      .add_option("--skip-images", a.options.skip_images,
                  "leave out the first N images, for example those that the weights were trained on")
      ->check(CLI::Range(0, kLargestNetworkBatch))
      ->group("Which cases");
  command.add_option("--seed", a.options.seed, "seed of synthetic images and random weights (default 1)")
      ->check(seed_error)
      ->group("Which cases");
  command.add_option("--chunk", a.chunk, "images at once (default: as many as fit into memory)")
      ->check(CLI::Range(1, kLargestNetworkBatch))
      ->group("How");
  command
      .add_flag("--overlap", a.options.overlap,
                "copy a chunk in and out while another is computed, on devices that can (pinned memory, streams)")
      ->group("How");
}

NetworkOptions network_options_of(const NetworkArguments& a) {
  NetworkOptions options = a.options;
  options.variants.clear();
  for (const std::string& text : a.options.variants) {
    if (text.find('=') != std::string::npos) {
      options.variants.push_back(text);
      continue;
    }
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      options.variants.push_back(text.substr(from, comma - from));
      from = comma + 1;
    }
  }
  for (const std::string& batch : a.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestNetworkBatch));
  }
  if (a.repetitions > 0) options.repetitions = a.repetitions;
  if (a.chunk > 0) options.chunk = a.chunk;
  if (a.timeout > 0) options.timeout_seconds = a.timeout;
  options.isolate = a.isolate == "process";
  return options;
}

std::vector<NetworkCase> planned_networks(const NetworkOptions& options, const NetworkArguments& a) {
  std::vector<NetworkCase> plan = make_network_plan(options);
  if (!a.case_filter.empty()) keep_cases(plan, a.case_filter);
  return plan;
}

}  // namespace convladder
