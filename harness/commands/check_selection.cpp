#include "harness/commands/check_selection.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "harness/commands/case_filter.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "network/layer_operators.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr int kLargestCheckedBatch = 64;  // checkers look at every access; more images show the same

/// Sizes with tail tiles, strides, padding and groups, which the networks' layers do not have together.
constexpr const char* kAwkwardSizes[] = {"C3H31W29M7K3S3P2", "C8H20W23M12K3S2P1G2", "C2H17W19M5K1S2",
                                         "C3H43W35M6K11S4"};
/// A small one that nearly every variant can run.
constexpr const char* kUsualSize = "C4H13W11M16K5P2";

/// Whether a problem that nobody named has anything to check: a CUDA variant and, in the named networks, a layer.
bool is_there(const CheckSelection& selection, const Problem& problem) {
  const auto is_cuda = [](const ProblemVariant& variant) { return variant.info.family == "cuda"; };
  if (std::ranges::none_of(problem.variants(), is_cuda)) return false;
  return selection.networks.empty() || std::ranges::any_of(selection.networks, [&](const std::string& name) {
           return !problem_layers(find_network(name), problem).empty();
         });
}

/// The problems to check: all of them, unless some are named. Variants, layers or sizes named alone mean convolutions.
std::vector<std::string> problems_of(const CheckSelection& selection) {
  if (!selection.problems.empty()) return selection.problems;
  if (!selection.variants.empty() || !selection.layers.empty() || !selection.shapes.empty() ||
      !selection.sizes.empty()) {
    return {RunOptions().problem};
  }
  std::vector<std::string> all{RunOptions().problem};
  for (const Problem* problem : registered_problems()) {
    if (problem->name() != all.front() && is_there(selection, *problem)) all.emplace_back(problem->name());
  }
  return all;
}

/// The options for the CUDA stages of a folder, on its counted sizes. Throws UserError for options that make no
/// sense for a folder.
RunOptions options_of_folder(const CheckSelection& selection, RunOptions options, UnnamedSizes unnamed) {
  for (const auto& [name, given] :
       {std::pair("--problem", !selection.problems.empty()), std::pair("--network", !selection.networks.empty()),
        std::pair("--layer", !selection.layers.empty()), std::pair("--shape", !selection.shapes.empty()),
        std::pair("--batch", !selection.batches.empty())}) {
    if (given) throw UserError(fmt::format("{}: not of a folder, whose sizes --size names", name));
  }
  options.families = {"cuda"};
  options.devices = {"simulated"};
  options.sizes = selection.sizes;
  options.variants = selection.variants;
  const auto is_cuda = [](const ProblemVariant& variant) { return variant.info.family == "cuda"; };
  if (std::ranges::none_of(problem_of(options).variants(), is_cuda)) {
    throw UserError(
        fmt::format("{}: no CUDA stage: the checkers are the simulated device's", printable(options.ladder)));
  }
  const std::vector<std::string> counted = problem_of(options).counted_sizes();
  if (unnamed == UnnamedSizes::one && options.sizes.empty() && !counted.empty()) options.sizes = {counted.front()};
  return options;
}

RunOptions options_of(const CheckSelection& selection, const std::string& problem, UnnamedSizes unnamed) {
  RunOptions options;
  options.families = {"cuda"};
  options.devices = {"simulated"};
  options.problem = problem;
  options.sizes = selection.sizes;
  options.variants = selection.variants;
  const Problem* const found = problem_named(problem);
  if (found != nullptr && options.variants.empty()) {  // also those that leave an idea out
    for (const ProblemVariant& registered : found->variants()) {
      if (registered.info.family == "cuda") options.variants.emplace_back(registered.info.name);
    }
  }
  options.networks = selection.networks;
  options.layers = selection.layers;
  for (const std::string& batch : selection.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestCheckedBatch));
  }
  if (options.batches.empty()) options.batches = unnamed == UnnamedSizes::one ? std::vector{3} : std::vector{1, 3};
  for (const std::string& shape : selection.shapes) options.shapes.push_back(parse_shape(shape));
  const bool sizes_named = !options.shapes.empty() || !options.sizes.empty();
  if (!options.networks.empty() || !options.layers.empty() || sizes_named || found == nullptr) return options;
  const bool is_convolution = problem == RunOptions().problem;
  if (unnamed == UnnamedSizes::one && (is_convolution || !found->counted_sizes().empty())) {
    options.sizes = {is_convolution ? kUsualSize : found->counted_sizes().front()};
  } else {
    for (const Network* network : selected_networks({}, {})) {
      if (!problem_layers(*network, *found).empty()) options.networks.push_back(network->name);
    }
    if (is_convolution) options.sizes.assign(std::begin(kAwkwardSizes), std::end(kAwkwardSizes));
  }
  return options;
}

}  // namespace

std::string CheckSelection::given() const {
  for (const auto& [name, values] :
       {std::pair("--problem", &problems), std::pair("--size", &sizes), std::pair("--variant", &variants),
        std::pair("--network", &networks), std::pair("--layer", &layers), std::pair("--shape", &shapes),
        std::pair("--batch", &batches)}) {
    if (!values->empty()) return name;
  }
  return "";
}

std::vector<CaseGroup> checked_groups(CheckSelection& selection, UnnamedSizes sizes) {
  if (!selection.ladder.empty()) {
    RunOptions options;
    choose_ladder(options, selection.ladder);
    if (!options.ladder.empty()) return make_plan(options_of_folder(selection, std::move(options), sizes));
    selection.problems.push_back(options.problem);
  }
  std::vector<CaseGroup> groups;
  for (const std::string& problem : problems_of(selection)) {
    for (CaseGroup& group : make_plan(options_of(selection, problem, sizes))) {
      const auto is_same = [&](const CaseGroup& other) { return other.work.shape == group.work.shape; };
      if (std::ranges::none_of(groups, is_same)) groups.push_back(std::move(group));
    }
  }
  return groups;
}

void add_check_selection(CLI::App& command, CheckSelection& selection) {
  add_list(command, "--problem", selection.problems,
           "only these problems, from 'convladder list': convolution, softmax, ...");
  add_list(command, "--size", selection.sizes, "sizes of the problem: C6H60W60K2S2, ...");
  add_list(command, "--variant", selection.variants, "names from 'convladder list'");
  add_list(command, "--network", selection.networks, "lenet28, alexnet, ..., or a network file");
  add_list(command, "--layer", selection.layers, "conv1, or lenet72.conv1");
  add_list(command, "--batch", selection.batches, "images per call (default 1,3)");
  command
      .add_option("--shape", selection.shapes,
                  "your own layer shape C,H,W,M,K[,stride[,padding]]; may be repeated (default: some with tails, "
                  "strides, padding and groups)")
      ->allow_extra_args(false);
}

}  // namespace convladder
