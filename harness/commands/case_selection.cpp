#include "harness/commands/case_selection.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/commands/option_checks.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr const char* kGroup = "Which cases";

}  // namespace

void add_case_selection(CLI::App& command, RunOptions& options, CaseSelection& selection, const char* default_batches) {
  const auto list = [&command](const char* name, std::vector<std::string>& values, const std::string& help) {
    add_list(command, name, values, help)->group(kGroup);
  };
  CLI::Option* const ladder = command.add_option("LADDER", selection.ladder, kLadderHelp)->group(kGroup);
  command.add_option("--problem", options.problem, "what is computed, from 'convladder list' (default convolution)")
      ->excludes(ladder)
      ->group(kGroup);
  list("--size", options.sizes, "sizes of the problem: C6H60W60K2S2, ... (default: some of its own)");
  list("--family", options.families, "cpu or cuda");
  list("--variant", options.variants, "names from 'convladder list'");
  list("--network", options.networks, "lenet28, alexnet, ... (default lenet28,lenet72), or a network file");
  list("--layer", options.layers, "conv1, or lenet72.conv1");
  list("--device", options.devices, "cpu, cuda, simulated (default: each family's own; cuda without a GPU: simulated)");
  list("--batch", selection.batches, fmt::format("images per call (default {})", default_batches));
  command.add_option("--shape", selection.shapes, "your own layer shape C,H,W,M,K[,stride[,padding]]; may be repeated")
      ->allow_extra_args(false)
      ->group(kGroup);
  command.add_option("--data", options.data_folder, "folder of IDX files (default: the built-in synthetic images)")
      ->group(kGroup);
  command.add_option("--seed", options.seed, "seed of images, weights and the order of measuring (default 1)")
      ->check(seed_error)
      ->group(kGroup);
}

void apply_case_selection(const CaseSelection& selection, RunOptions& options) {
  if (!selection.ladder.empty()) choose_ladder(options, selection.ladder);
  for (const std::string& batch : selection.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestBatch));
  }
  for (const std::string& shape : selection.shapes) options.shapes.push_back(parse_shape(shape));
}

}  // namespace convladder
