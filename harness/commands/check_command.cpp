// `convladder check`: the CUDA variants and operators on the simulated device under the checkers, from every compiler's
// PTX.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/all_cores.hpp"
#include "devices/ptx_images.hpp"
#include "devices/simulated/simulated_device.hpp"
#include "harness/cases/workload.hpp"
#include "harness/commands/case_filter.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/printed.hpp"
#include "harness/plan/device_argument.hpp"
#include "harness/plan/network_argument.hpp"
#include "harness/plan/not_run.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/shape_argument.hpp"
#include "harness/simulation/check_fused.hpp"
#include "harness/simulation/check_operators.hpp"
#include "harness/simulation/checked_case.hpp"
#include "harness/simulation/checkers_argument.hpp"
#include "support/errors.hpp"
#include "support/progress.hpp"
#include "support/whole_number.hpp"
#include "variants/float32.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct CheckArguments {
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
  options.variants = arguments.variants;
  if (options.variants.empty()) {  // those too that leave an idea out
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
  if (options.networks.empty() && options.layers.empty() && options.shapes.empty()) {
    for (const Network* network : selected_networks({}, {})) options.networks.push_back(network->name);
    options.shapes = awkward_shapes();
  }
  return options;
}

/// Convolves a problem; what is wrong with the output, empty if nothing is. Throws DeviceError.
std::string convolve(const ConvVariant& variant, const ExpectedOutput& expected, double tolerance,
                     simulated::SimulatedDevice& device) {
  const Problem& problem = expected.problem();
  // The output is not poisoned: the host would have written it, and initcheck is to see that the kernel does.
  const DeviceBuffer input = device.allocate(problem.input.size_bytes(), "input");
  const DeviceBuffer output =
      device.allocate(static_cast<std::size_t>(problem.shape.output_elements()) * sizeof(float), "output");
  device.copy_to_device(input.address(), problem.input.data(), problem.input.size_bytes());
  variant.prepare(device, problem.shape, problem.weights.data(), {input.floats(), output.floats()})->convolve();
  std::vector<float> found;
  const ReadOutput read = [&](std::int64_t first, std::int64_t count) {
    found.resize(static_cast<std::size_t>(count));
    device.copy_to_host(found.data(), output.floats() + first, found.size() * sizeof(float));
    return found.data();
  };
  return expected.compare(read, problem.shape.output_elements(), {}, tolerance).first_failure;
}

void check_variant(CheckedCase& checked, const PlannedCase& planned, const Workload& workload,
                   const simulated::CheckerSet& checkers) {
  if (!planned.runs()) {
    const NotRun not_run = why_not_run(planned);
    checked.status = not_run.status;
    checked.reason = not_run.reason;
    return;
  }
  run_checked(checked, checkers, [&](simulated::SimulatedDevice& device) {
    const ConvVariant& variant = *planned.variant.variant;
    const bool is_float32 = variant.tolerance() <= kFloat32Tolerance;
    const double tolerance = granted_tolerance(variant.tolerance(), planned.work.shape);
    const std::string wrong = convolve(variant, workload.expected(ProblemKind::real), tolerance, device);
    const std::string wrong_integers =
        convolve(variant, workload.expected(ProblemKind::integers), is_float32 ? 0 : tolerance, device);
    return wrong.empty() ? wrong_integers : wrong;
  });
}

/// All cases of a group that the settings take, from every compiler's PTX, on all cores.
std::vector<CheckedCase> check_group(const CaseGroup& group, const CheckSettings& settings) {
  std::vector<CheckedCase> cases;
  std::vector<const PlannedCase*> plan;
  for (const PlannedCase& planned : group.cases) {
    for (const PtxImages& images : ptx_images()) {
      if (planned.variant.info.is_library() || !settings.takes(planned.id)) continue;
      cases.push_back({.id = planned.id, .compiler = images.compiler, .status = {}, .reason = {}, .findings = {}});
      plan.push_back(&planned);
    }
  }
  if (cases.empty() || settings.dry_run) return cases;
  const Workload workload(group.work, synthetic_images(group.work.shape.batch, kCheckSeed), kCheckSeed);
  on_all_cores(cases.size(),
               [&](std::size_t index) { check_variant(cases[index], *plan[index], workload, settings.checkers); });
  return cases;
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
      const std::string sum = fmt::format("{} cases checked, {} failed\n", checked_, failed_);
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
  const bool variants_only = !arguments.variants.empty() || !arguments.layers.empty() || !arguments.shapes.empty();
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
