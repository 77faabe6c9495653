#include "harness/measure/simulation/check_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <new>

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/all_cores.hpp"
#include "devices/device_error.hpp"
#include "devices/ptx_images.hpp"
#include "harness/measure/cases/checked_stage.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/plan.hpp"
#include "support/text_table.hpp"

namespace convladder {
namespace {

constexpr std::uint64_t kCheckSeed = 1;  // of images and weights

/// Solves a problem and compares the output with the expected one. Throws DeviceError.
Check solve(const Variant& variant, const ProblemData& data, const Expectation& expected, double tolerance,
            simulated::SimulatedDevice& device) {
  const Problem& problem = *data.shape.problem;
  struct Held {
    ProblemTensor tensor;
    DeviceBuffer buffer;
  };
  std::map<std::string_view, Held> all;
  ProblemTensors tensors;
  tensors.constants = data.placed_constants();
  const auto hold = [&](const ProblemTensor& tensor, std::vector<PlacedTensor>& role) -> const DeviceBuffer& {
    const std::size_t bytes = tensor.bytes() * static_cast<std::size_t>(data.shape.batch);
    Held& held = all[tensor.name] = {tensor, device.allocate(bytes, tensor.name)};
    role.push_back({tensor, held.buffer.address()});
    return held.buffer;
  };
  const std::size_t inputs = problem.inputs(data.shape).size();
  for (std::size_t i = 0; i < data.given.size(); ++i) {
    const bool is_input = i < inputs;
    const DeviceBuffer& buffer = hold(data.given[i].tensor, is_input ? tensors.inputs : tensors.in_outs);
    device.copy_to_device(buffer.address(), data.given[i].bytes.data(), buffer.bytes());
    if (is_input) device.only_read(buffer);
  }
  // The outputs are not poisoned: the host would have written them, and initcheck is to see that the kernel does.
  for (const ProblemTensor& tensor : problem.outputs(data.shape)) hold(tensor, tensors.outputs);
  const auto prepared = variant.prepare(device, data.shape, tensors);
  prepared->load_input();
  prepared->run();
  prepared->store_output();
  std::vector<std::byte> found;
  const ReadTensor read = [&](std::string_view name, std::int64_t first, std::int64_t count) {
    const Held& held = all.at(name);
    const std::size_t bytes = element_bytes(held.tensor.type);
    found.resize(static_cast<std::size_t>(count) * bytes);
    const auto* const from = static_cast<const std::byte*>(held.buffer.address());
    device.copy_to_host(found.data(), from + static_cast<std::size_t>(first) * bytes, found.size());
    return found.data();
  };
  return expected.compare(read, std::numeric_limits<std::int32_t>::max(), {}, tolerance);
}

/// Adds a finding once: every launch of the kernel finds the same place, with real numbers and with small integers.
void add_once(std::vector<simulated::Finding>& findings, simulated::Finding finding) {
  const auto same = [&](const simulated::Finding& other) {
    return other.checker == finding.checker && other.problem == finding.problem && other.kernel == finding.kernel &&
           other.ptx_line == finding.ptx_line && other.severity == finding.severity;
  };
  if (std::ranges::none_of(findings, same)) findings.push_back(std::move(finding));
}

/// Runs a case on a device of its own; `work` returns what was wrong with the results, empty if nothing was. Fills in
/// status, reason and findings, each once, including those of memory that was not freed.
void run_checked(CheckedCase& checked, const CheckSettings& settings,
                 const std::function<std::string(simulated::SimulatedDevice&)>& work) {
  simulated::SimulatedDeviceOptions options;
  options.checkers = settings.checkers;
  options.schedules = settings.schedules;
  options.mutants = settings.mutants;
  if (settings.launch_seconds > 0) {  // of all launches together, which are no more than a few
    const auto begin = std::chrono::steady_clock::now();
    options.limits.watch = [most = settings.launch_seconds, begin](const simulated::LaunchProgress& /*progress*/) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      return passed.count() > most ? fmt::format("after {:.0f} s", most) : std::string();
    };
  }
  options.tensor_cores = settings.tensor_cores;
  options.host_threads = 1;
  options.with_caches = false;
  options.ptx_compiler = checked.compiler;
  simulated::SimulatedDevice device(options);
  device.set_counting(false);
  try {
    checked.reason = work(device);
    checked.status = checked.reason.empty() ? Status::ok : Status::incorrect;
  } catch (const DeviceError& error) {
    checked.status = Status::launch_failed;
    checked.reason = error.what();
  } catch (const std::bad_alloc&) {
    checked.status = Status::launch_failed;
    checked.reason = "out of memory";
  }
  for (simulated::Finding& finding : device.take_findings()) add_once(checked.findings, std::move(finding));
  for (const auto& [name, tried] : device.take_orders_tried()) checked.orders += tried;
  checked.mutants = device.take_mutants();
  if (!settings.checkers.memory) return;
  for (simulated::Finding& leak : device.leaks()) checked.findings.push_back(std::move(leak));
}

/// Runs a stage of a folder on real numbers and on small whole ones; fills in status, reason and findings.
void check_stage(CheckedCase& checked, const PlannedCase& planned, const Workload& workload,
                 const CheckSettings& settings) {
  const ProblemSize& size = planned.work.shape;
  const double tolerance = size.problem->granted_tolerance(planned.variant.variant->tolerance(), size);
  const CheckedStage stage(planned, workload,
                           {.checkers = settings.checkers,
                            .schedules = settings.schedules,
                            .mutants = settings.mutants,
                            .launch_seconds = settings.launch_seconds,
                            .host_threads = 1});
  try {
    const Check real = stage.solve(ProblemKind::real, tolerance);
    checked.largest_error = real.max_scaled_error;
    checked.tolerance = tolerance;
    checked.reason = real.passed ? stage.solve(ProblemKind::integers, tolerance).first_failure : real.first_failure;
    checked.status = checked.reason.empty() ? Status::ok : Status::incorrect;
  } catch (const CaseFailure& failure) {
    checked.status = failure.status;
    checked.reason = failure.what();
  }
  try {
    to_check::Found found = stage.findings();
    checked.findings = std::move(found.findings);
    checked.orders = found.orders;
    checked.mutants = std::move(found.mutants);
  } catch (const CaseFailure& failure) {
    if (checked.status != Status::ok) return;  // it has ended, and its status says how
    checked.status = failure.status;
    checked.reason = failure.what();
  }
}

/// Results that are right do not make a case ok in which something was found.
void find_unsafe(CheckedCase& checked) {
  if (checked.status == Status::ok && simulated::count_findings(checked.findings) > 0) checked.status = Status::unsafe;
}

void check_variant(CheckedCase& checked, const PlannedCase& planned, const Workload& workload,
                   const CheckSettings& settings) {
  if (!planned.runs()) {
    const NotRun not_run = why_not_run(planned);
    checked.status = not_run.status;
    checked.reason = not_run.reason;
    return;
  }
  if (planned.variant.variant->compiled_stage() != nullptr) {
    check_stage(checked, planned, workload, settings);
    return find_unsafe(checked);
  }
  run_checked(checked, settings, [&](simulated::SimulatedDevice& device) {
    const Variant& variant = *planned.variant.variant;
    const Problem& problem = *planned.work.shape.problem;
    const double tolerance = problem.granted_tolerance(variant.tolerance(), planned.work.shape);
    const bool exact = problem.is_exact_on_whole_numbers(workload.integers().shape, variant.tolerance());
    const Check real = solve(variant, workload.real(), workload.expected(ProblemKind::real), tolerance, device);
    checked.largest_error = real.max_scaled_error;
    checked.tolerance = tolerance;
    if (!real.passed) return real.first_failure;
    return solve(variant, workload.integers(), workload.expected(ProblemKind::integers), exact ? 0 : tolerance, device)
        .first_failure;
  });
  find_unsafe(checked);
}

}  // namespace

CheckedGroup::CheckedGroup(const CaseGroup& group, const CheckSettings& settings) {
  for (const PlannedCase& planned : group.cases) {
    if (!settings.ids.matches(planned.id)) continue;
    const auto add = [&](const std::string& compiler) {
      cases_.push_back({.id = planned.id, .compiler = compiler, .status = {}, .reason = {}, .findings = {}});
      plan_.push_back(&planned);
    };
    if (planned.variant.variant->compiled_stage() != nullptr) {
      add("nvcc");
    } else if (!planned.variant.info.is_library()) {
      for (const PtxImages& images : ptx_images()) add(images.compiler);
    }
  }
  if (cases_.empty() || settings.dry_run) return;
  workload_.emplace(group.work, synthetic_images(group.work.shape.batch, kCheckSeed), kCheckSeed);
  if (plan_.front()->variant.variant->compiled_stage() != nullptr) {
    // Computed by this thread: a folder's reference is a process that ends with the thread that has started it.
    static_cast<void>(workload_->expected(ProblemKind::real));
    static_cast<void>(workload_->expected(ProblemKind::integers));
  }
}

CheckedCase CheckedGroup::check(std::size_t index, const CheckSettings& settings) const {
  CheckedCase checked = cases_[index];
  check_variant(checked, *plan_[index], *workload_, settings);
  return checked;
}

std::vector<CheckedCase> check_group(const CaseGroup& group, const CheckSettings& settings) {
  const CheckedGroup checked(group, settings);
  std::vector<CheckedCase> cases = checked.cases();
  if (settings.dry_run) return cases;
  on_all_cores(cases.size(), [&](std::size_t index) { cases[index] = checked.check(index, settings); });
  return cases;
}

std::string case_lines(const CheckedCase& checked) {
  const std::size_t found = simulated::count_findings(checked.findings);
  const std::size_t noted = checked.findings.size() - found;
  std::string line = fmt::format("  {:<58} {:<6} ", checked.id, checked.compiler);
  line += fmt::format("{}", checked.status.value());
  if (found > 0) line += ", " + plural(found, "finding");
  if (checked.status == Status::ok) line += ", nothing found";
  if (noted > 0) line += ", " + plural(noted, "note");
  if (!checked.orders.empty()) line += ", " + to_text(checked.orders);
  if (!checked.reason.empty() && checked.was_run()) line += fmt::format("\n      {}", checked.reason);
  for (const simulated::Finding& finding : checked.findings) line += fmt::format("\n      {}", to_text(finding));
  return line;
}

}  // namespace convladder
