#include "harness/check_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "devices/device_error.hpp"
#include "devices/ptx_images.hpp"
#include "devices/simulated/simulated_device.hpp"
#include "harness/checkers_argument.hpp"
#include "harness/errors.hpp"
#include "harness/network_argument.hpp"
#include "harness/plan.hpp"
#include "harness/progress.hpp"
#include "harness/shape_argument.hpp"
#include "harness/simulation_report.hpp"
#include "harness/verify.hpp"
#include "harness/whole_number.hpp"
#include "harness/workload.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr int kLargestBatch = 64;  // checkers look at every access; more images tell the same story
constexpr std::uint64_t kSeed = 1;

constexpr const char* kFooter = R"(examples:
  convladder check                                    every CUDA variant, every layer, batches 1 and 3
  convladder check --variant shared-memory --layer lenet72.conv2
  convladder check --shape 96,27,27,256,5,1,2 --batch 1 --checkers memory,race
  convladder check --json > findings.json

exit codes: 0 every case is right and nothing was found - 1 something was found, or a result is wrong -
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
  options.networks = arguments.networks;
  options.layers = arguments.layers;
  for (const std::string& batch : arguments.batches) {
    options.batches.push_back(parse_whole_number("--batch", batch, 1, kLargestBatch));
  }
  if (options.batches.empty()) options.batches = {1, 3};
  for (const std::string& shape : arguments.shapes) options.shapes.push_back(parse_shape(shape));
  if (options.networks.empty() && options.layers.empty() && options.shapes.empty()) {
    for (const Network* network : selected_networks({}, {})) options.networks.push_back(network->name);
    options.shapes = awkward_shapes();
  }
  return options;
}

/// A variant's kernels from one compiler's PTX on one shape, and what came of it.
struct CheckedCase {
  const PlannedCase* planned = nullptr;
  std::string compiler;
  std::string status;  ///< as of a case in a run
  std::string reason;
  std::vector<simulated::Finding> findings;

  bool passed() const { return (status == "ok" || status == "unsupported") && findings.empty(); }
};

/// Convolves a problem; adds what was found. Throws DeviceError.
void check_problem(const CheckedCase& checked, const Problem& problem, double tolerance,
                   simulated::SimulatedDevice& device, std::string& wrong) {
  // The output is not poisoned: the host would have written it, and initcheck is to see that the kernel does.
  const DeviceBuffer input = device.allocate(problem.input.size_bytes(), "input");
  const DeviceBuffer output =
      device.allocate(static_cast<std::size_t>(problem.shape.output_elements()) * sizeof(float), "output");
  device.copy_to_device(input.address(), problem.input.data(), problem.input.size_bytes());
  const auto prepared = checked.planned->variant.variant->prepare(device, problem.shape, problem.weights.data(),
                                                                  {input.floats(), output.floats()});
  prepared->convolve();
  const Check check = check_output(device, output, problem, tolerance);
  if (!check.passed && wrong.empty()) wrong = check.first_failure;
}

void run_case(CheckedCase& checked, const Workload& workload, const simulated::CheckerSet& checkers) {
  if (!checked.planned->skipped.empty() || !checked.planned->unsupported.empty()) {
    checked.status = checked.planned->skipped.empty() ? "unsupported" : "skipped";
    checked.reason = checked.planned->skipped.empty() ? checked.planned->unsupported : checked.planned->skipped;
    return;
  }
  simulated::SimulatedDeviceOptions options;
  options.checkers = checkers;
  options.host_threads = 1;
  options.with_caches = false;
  options.ptx_compiler = checked.compiler;
  simulated::SimulatedDevice device(options);
  try {
    const double tolerance = checked.planned->variant.variant->tolerance();
    check_problem(checked, workload.real(), tolerance, device, checked.reason);
    check_problem(checked, workload.integers(), tolerance <= 1e-6 ? 0 : tolerance, device, checked.reason);
    checked.status = checked.reason.empty() ? "ok" : "incorrect";
  } catch (const DeviceError& error) {
    checked.status = "launch failed";
    checked.reason = error.what();
  } catch (const std::bad_alloc&) {
    checked.status = "launch failed";
    checked.reason = "out of memory";
  }
  checked.findings = device.take_findings();
  if (!checkers.memory) return;
  for (simulated::Finding& leak : device.leaks()) checked.findings.push_back(std::move(leak));
}

/// All cases of a group from every compiler's PTX, on all cores.
std::vector<CheckedCase> run_group(const CaseGroup& group, const simulated::CheckerSet& checkers) {
  std::vector<CheckedCase> cases;
  for (const PlannedCase& planned : group.cases) {
    for (const PtxImages& images : ptx_images()) {
      if (planned.variant.info.rung) cases.push_back({&planned, images.compiler, {}, {}, {}});
    }
  }
  if (cases.empty()) return cases;
  const Workload workload(group.work, synthetic_images(group.work.shape.batch, kSeed), kSeed);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) run_case(cases[i], workload, checkers);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < usable_cores(); ++thread) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return cases;
}

ordered_json case_json(const CheckedCase& checked) {
  ordered_json findings = ordered_json::array();
  for (const simulated::Finding& finding : checked.findings) findings.push_back(finding_json(finding));
  return {{"id", checked.planned->id},
          {"ptx_compiler", checked.compiler},
          {"status", checked.status},
          {"reason", checked.reason.empty() ? ordered_json() : ordered_json(checked.reason)},
          {"findings", std::move(findings)}};
}

std::string case_line(const CheckedCase& checked) {
  const std::string found =
      checked.findings.empty() ? "nothing found" : fmt::format("{} findings", checked.findings.size());
  std::string line = fmt::format("  {:<58} {:<6} {}", checked.planned->id, checked.compiler, checked.status);
  if (checked.status == "ok" || !checked.findings.empty()) line += fmt::format(", {}", found);
  if (!checked.reason.empty()) line += fmt::format("\n      {}", checked.reason);
  for (const simulated::Finding& finding : checked.findings) line += fmt::format("\n      {}", to_text(finding));
  return line;
}

}  // namespace

void add_check_options(CLI::App& check, CheckArguments& arguments) {
  check.footer(kFooter);
  const auto list = [&check](const char* name, std::vector<std::string>& values, const char* help) {
    check.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  };
  list("--variant", arguments.variants, "names from 'convladder list'");
  list("--network", arguments.networks, "lenet28, alexnet, ..., or a network file");
  list("--layer", arguments.layers, "conv1, or lenet72.conv1");
  list("--batch", arguments.batches, "images per call (default 1,3)");
  check
      .add_option("--shape", arguments.shapes,
                  "an own shape C,H,W,M,K[,stride[,padding]]; may be given several times (default: some with tails, "
                  "strides, padding and groups)")
      ->allow_extra_args(false);
  check.add_option("--checkers", arguments.checkers, "memory,initialization,race,synchronization (default all)");
  check.add_flag("--json", arguments.as_json, "as JSON");
}

int check_command(const CheckArguments& arguments) {
  const simulated::CheckerSet checkers = parse_checkers(arguments.checkers);
  const std::vector<CaseGroup> plan = make_plan(options_of(arguments));
  if (ptx_images().empty()) throw UserError("no PTX in this build: there was no compiler for the kernels");
  int all = 0;
  for (const CaseGroup& group : plan) all += static_cast<int>(group.cases.size() * ptx_images().size());
  Progress progress(arguments.as_json ? nullptr : stdout, all);
  ordered_json json = ordered_json::array();
  int checked_cases = 0;
  int failed = 0;
  for (const CaseGroup& group : plan) {
    progress.show(fmt::format("{} batch {}", group.work.name(), group.work.shape.batch), 0);
    for (const CheckedCase& checked : run_group(group, checkers)) {
      ++checked_cases;
      if (!checked.passed()) ++failed;
      progress.finished(case_line(checked));
      if (arguments.as_json) json.push_back(case_json(checked));
    }
  }
  if (arguments.as_json) {
    fmt::print("{}\n", json.dump(1));
  } else {
    fmt::print("{} cases checked, {} failed\n", checked_cases, failed);
  }
  return failed == 0 ? kExitOk : kExitCasesFailed;
}

}  // namespace convladder
