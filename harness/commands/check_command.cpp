// `convladder check`: the CUDA variants and operators on the simulated device under the checkers, from every compiler's
// PTX.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "devices/ptx_images.hpp"
#include "devices/simulated/simulated_device.hpp"
#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/printed.hpp"
#include "harness/plan/device_argument.hpp"
#include "harness/plan/network_argument.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/shape_argument.hpp"
#include "harness/simulation/check_cases.hpp"
#include "harness/simulation/check_fused.hpp"
#include "harness/simulation/check_operators.hpp"
#include "harness/simulation/checked_case.hpp"
#include "harness/simulation/checkers_argument.hpp"
#include "support/errors.hpp"
#include "support/progress.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct CheckArguments {
  std::string problem = "convolution";
  std::vector<std::string> sizes;
  std::vector<std::string> variants;
  std::vector<std::string> operators;
  std::vector<std::string> networks;
  std::vector<std::string> layers;
  std::vector<std::string> shapes;
  std::vector<std::string> batches;
  std::string checkers = "all";
  std::string case_filter;
  bool dry_run = false;
  Printed printed;
};

using nlohmann::ordered_json;

constexpr int kLargestCheckedBatch = 64;  // checkers look at every access; more images tell the same story

constexpr const char* kCheckFooter = R"(examples:
  convladder check                                    every CUDA kernel of ours, every layer, batches 1 and 3
  convladder check --variant shared-memory --layer lenet72.conv2
  convladder check --shape 96,27,27,256,5,1,2 --batch 1 --checkers memory,race
  convladder check --operator softmax,max_pool --network alexnet --batch 1
  convladder check --format json --output findings.json

exit codes: 0 every case is correct and nothing was found - 1 something was found, or a result is wrong -
3 bad input: one line says what)";

/// Shapes with tail tiles, strides, padding and groups, which the networks' layers do not have together.
std::vector<ConvShape> awkward_shapes() {
  return {
      {1, 3, 31, 29, 7, 3, 3, 2}, {1, 8, 20, 23, 12, 3, 2, 1, 2}, {1, 2, 17, 19, 5, 1, 2}, {1, 3, 43, 35, 6, 11, 4}};
}

RunOptions options_of(const CheckArguments& arguments) {
  RunOptions options;
  options.families = {"cuda"};
  options.devices = {"simulated"};
  options.problem = arguments.problem;
  options.sizes = arguments.sizes;
  options.variants = arguments.variants;
  const bool convolves = options.problem == RunOptions().problem;
  if (convolves && options.variants.empty()) {  // those too that leave an idea out
    for (const RegisteredVariant& registered : registered_variants()) {
      if (registered.info.family == "cuda") options.variants.emplace_back(registered.info.name);
    }
  }
  options.networks = arguments.networks;
  options.layers = arguments.layers;
  for (const std::string& batch : arguments.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestCheckedBatch));
  }
  if (options.batches.empty()) options.batches = {1, 3};
  for (const std::string& shape : arguments.shapes) options.shapes.push_back(parse_shape(shape));
  const bool sizes_named = !options.shapes.empty() || !options.sizes.empty();
  if (convolves && options.networks.empty() && options.layers.empty() && !sizes_named) {
    for (const Network* network : selected_networks({}, {})) options.networks.push_back(network->name);
    options.shapes = awkward_shapes();
  }
  return options;
}

/// Shows the cases as they are checked, and counts.
class Results {
 public:
  Results(const CheckArguments& arguments, int all)
      : arguments_(arguments), progress_(arguments.dry_run ? nullptr : lines_of(arguments.printed), all) {}

  void begin(const std::string& what, int batch) { progress_.show(fmt::format("{} batch {}", what, batch)); }
  void add(const std::vector<CheckedCase>& cases) {
    for (const CheckedCase& checked : cases) {
      ++checked_;
      if (arguments_.dry_run) {
        text_ += fmt::format("{} {}{}\n", checked.id, checked.compiler,
                             checked.reason.empty() ? "" : fmt::format(": {}", checked.reason));
        continue;
      }
      if (!checked.passed()) ++failed_;
      const std::string lines = case_lines(checked);
      progress_.finished(lines);
      text_ += lines + '\n';
      json_.push_back(case_json(checked));
    }
  }
  /// Prints the sum, or everything as JSON; returns the exit code. Throws UserError if there was no case.
  int finish() {
    if (checked_ == 0) {
      throw UserError(fmt::format("no case remains: --case '{}' matches none", arguments_.case_filter));
    }
    const Printed& printed = arguments_.printed;
    if (arguments_.dry_run) {
      fmt::print("{}{} case{}\n", text_, checked_, checked_ == 1 ? "" : "s");
    } else if (printed.format == "json") {
      print_as(printed, json_.dump(1) + '\n');
    } else {
      const std::string sum =
          fmt::format("{} case{} checked, {} failed\n", checked_, checked_ == 1 ? "" : "s", failed_);
      print_as(printed, printed.file.empty() ? sum : text_ + sum);
    }
    return failed_ == 0 ? kExitOk : kExitCasesFailed;
  }

 private:
  /// As text, a case is shown when it has ended.
  static std::FILE* lines_of(const Printed& printed) {
    return printed.format == "text" && printed.file.empty() ? stdout : nullptr;
  }

  const CheckArguments& arguments_;
  Progress progress_;
  ordered_json json_ = ordered_json::array();
  std::string text_;
  int checked_ = 0;
  int failed_ = 0;
};

void add_check_options(CLI::App& check, CheckArguments& arguments) {
  const auto list = [&check](const char* name, std::vector<std::string>& values, const char* help) {
    check.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  };
  check.add_option("--problem", arguments.problem, "only this problem, from 'convladder list'");
  list("--size", arguments.sizes, "sizes of the problem: C6H60W60K2S2, ...");
  list("--variant", arguments.variants, "names from 'convladder list'");
  list("--operator", arguments.operators, "only these operators: max_pool, fully_connected, ...");
  list("--network", arguments.networks, "lenet28, alexnet, ..., or a network file");
  list("--layer", arguments.layers, "conv1, or lenet72.conv1");
  list("--batch", arguments.batches, "images per call (default 1,3)");
  check
      .add_option("--shape", arguments.shapes,
                  "your own layer shape C,H,W,M,K[,stride[,padding]]; may be repeated (default: some with tails, "
                  "strides, padding and groups)")
      ->allow_extra_args(false);
  check.add_option("--checkers", arguments.checkers, "memory,initialization,race,synchronization (default all)");
  check.add_option("--case", arguments.case_filter, kCaseHelp);
  check.add_flag("--dry-run", arguments.dry_run, "only list the cases");
  add_printed_options(check, arguments.printed, {"text", "json"});
}

int check_command(CheckArguments& arguments, const CommandLine& /*command_line*/) {
  const CheckSettings settings{.checkers = parse_checkers(arguments.checkers),
                               .ids = case_expression(arguments.case_filter),
                               .dry_run = arguments.dry_run};
  check_printed(arguments.printed);
  const RunOptions options = options_of(arguments);
  // Whoever names variants, layers or shapes means convolutions; whoever names operators means none.
  const bool operators_only = !arguments.operators.empty();
  const bool variants_only = !arguments.variants.empty() || !arguments.layers.empty() || !arguments.shapes.empty() ||
                             !arguments.sizes.empty() || arguments.problem != RunOptions().problem;
  if (operators_only && variants_only) {
    throw UserError(
        "--operator can be combined only with --network and --batch; --variant, --layer and --shape are for "
        "convolutions");
  }
  const std::vector<CaseGroup> plan = operators_only ? std::vector<CaseGroup>() : make_plan(options);
  std::vector<OperatorWork> operators;
  if (!variants_only) operators = operator_works(arguments.networks, arguments.operators, options.batches);
  if (const std::string why = find_device_kind("simulated").unavailable(); !why.empty()) {
    throw UserError(fmt::format("the simulated device: {}", why));
  }
  std::vector<FusedWork> fused;
  if (!variants_only && !operators_only) fused = fused_works(arguments.networks, options.batches);
  if (plan.empty() && operators.empty()) throw UserError("no layer of these networks has such an operator");

  std::size_t all = operators.size() + fused.size();
  for (const CaseGroup& group : plan) all += group.cases.size();
  Results results(arguments, static_cast<int>(all * ptx_images().size()));
  for (const CaseGroup& group : plan) {
    results.begin(group.work.name(), group.work.shape.batch);
    results.add(check_group(group, settings));
  }
  for (const FusedWork& work : fused) {
    results.begin(work.convolution.name(), work.shape.convolution.batch);
    results.add(check_fused(work, settings));
  }
  for (const OperatorWork& work : operators) {
    results.begin(work.layer, work.shape.batch);
    results.add(check_operators(work, settings));
  }
  return results.finish();
}

const CommandRegistration check_registration({.name = "check",
                                              .group = CommandGroup::without_a_gpu,
                                              .help = "run the CUDA variants under all checkers, without a GPU",
                                              .footer = kCheckFooter,
                                              .add = command_of<CheckArguments, add_check_options, check_command>});

}  // namespace
}  // namespace convladder
