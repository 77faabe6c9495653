#include "harness/commands/network_choice.hpp"

#include <CLI/CLI.hpp>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {

void add_network_choice_options(CLI::App& command, NetworkOptions& options, NetworkSelection& selection) {
  const auto list = [&command](const char* name, std::vector<std::string>& values, const char* help) {
    return command.add_option(name, values, help)->delimiter(',')->allow_extra_args(false)->group("Which cases");
  };
  list("--network", options.networks, "lenet28, alexnet, ..., or a network file");
  // Not split at commas here: one choice may name a variant for each layer.
  command
      .add_option("--variant", selection.variants,
                  "names from 'convladder list'; 'all'; 'best': what suits each layer; 'best-separate': not fused; or "
                  "conv1=NAME,conv2=NAME")
      ->allow_extra_args(false)
      ->group("Which cases");
  command
      .add_option("--with", options.with,
                  "a stage of your own, a .cu, .cpp or .ptx, which computes convolutions; may be repeated")
      ->allow_extra_args(false)
      ->group("Which cases");
  command
      .add_option("--operator", options.operators,
                  "an operator other than the default: fully_connected=NAME (see 'convladder list')")
      ->allow_extra_args(false)
      ->group("Which cases");
  list("--device", options.devices, "cpu, cuda, simulated; default: cpu, and cuda if there is a GPU");
  list("--batch", selection.batches,
       "images per pass (default: the network's own batches that this device finishes in reasonable time)");
  command.add_option("--case", options.case_filter, kCaseHelp)->group("Which cases");
  command.add_option("--data", options.data_folder, "folder of IDX files (default: the built-in synthetic images)")
      ->group("Which cases");
  command.add_option("--weights", options.weights, "high (default), low, random, or a safetensors file")
      ->group("Which cases");
  command
      .add_option("--skip-images", options.skip_images,
                  "leave out the first N images, for example those that the weights were trained on")
      ->check(CLI::Range(0, kLargestNetworkBatch))
      ->group("Which cases");
  command.add_option("--seed", options.seed, "seed of synthetic images and random weights (default 1)")
      ->check(seed_error)
      ->group("Which cases");
  command
      .add_option("--chunk", options.chunk,
                  "images at once (default: as many as fit into memory, or a processor's caches)")
      ->check(CLI::Range(1, kLargestNetworkBatch))
      ->group("How");
  command
      .add_flag("--overlap", options.overlap,
                "copy a chunk in and out while another is computed, on devices that can (pinned memory, streams)")
      ->group("How");
}

void apply_network_selection(const NetworkSelection& selection, NetworkOptions& options) {
  make_absolute(options.with);
  for (const std::string& text : selection.variants) {
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
  for (const std::string& batch : selection.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestNetworkBatch));
  }
}

std::vector<NetworkCase> planned_networks(const NetworkOptions& options) {
  if (options.networks.empty()) throw UserError("--network is required (see 'convladder network --help')");
  std::vector<NetworkCase> plan = make_network_plan(options);
  if (!options.case_filter.empty()) keep_cases(plan, options.case_filter);
  return plan;
}

}  // namespace convladder
