#include "harness/simulation/check_cases.hpp"

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/all_cores.hpp"
#include "devices/ptx_images.hpp"
#include "harness/cases/workload.hpp"
#include "harness/plan/not_run.hpp"

namespace convladder {
namespace {

/// Solves a problem and holds the output against what is expected. Throws DeviceError.
Check solve(const Variant& variant, const ProblemData& data, const Expectation& expected, double tolerance,
            simulated::SimulatedDevice& device) {
  const std::int64_t elements = data.shape.output_elements();
  // The output is not poisoned: the host would have written it, and initcheck is to see that the kernel does.
  const DeviceBuffer input = device.allocate(data.input.size_bytes(), "input");
  const DeviceBuffer output = device.allocate(static_cast<std::size_t>(elements) * sizeof(float), "output");
  device.copy_to_device(input.address(), data.input.data(), data.input.size_bytes());
  const std::vector<const float*> constants = data.constant_addresses();
  const auto prepared = variant.prepare(device, data.shape, {input.floats(), constants, output.floats()});
  prepared->load_input();
  prepared->run();
  prepared->store_output();
  std::vector<float> found;
  const ReadOutput read = [&](std::int64_t first, std::int64_t count) {
    found.resize(static_cast<std::size_t>(count));
    device.copy_to_host(found.data(), output.floats() + first, found.size() * sizeof(float));
    return found.data();
  };
  return expected.compare(read, elements, {}, tolerance);
}

void check_variant(CheckedCase& checked, const PlannedCase& planned, const Workload& workload,
                   const CheckSettings& settings) {
  if (!planned.runs()) {
    const NotRun not_run = why_not_run(planned);
    checked.status = not_run.status;
    checked.reason = not_run.reason;
    return;
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
}

}  // namespace

std::vector<CheckedCase> check_group(const CaseGroup& group, const CheckSettings& settings) {
  std::vector<CheckedCase> cases;
  std::vector<const PlannedCase*> plan;
  for (const PlannedCase& planned : group.cases) {
    for (const PtxImages& images : ptx_images()) {
      if (planned.variant.info.is_library() || !settings.ids.matches(planned.id)) continue;
      cases.push_back({.id = planned.id, .compiler = images.compiler, .status = {}, .reason = {}, .findings = {}});
      plan.push_back(&planned);
    }
  }
  if (cases.empty() || settings.dry_run) return cases;
  const Workload workload(group.work, synthetic_images(group.work.shape.batch, kCheckSeed), kCheckSeed);
  on_all_cores(cases.size(), [&](std::size_t index) { check_variant(cases[index], *plan[index], workload, settings); });
  return cases;
}

}  // namespace convladder
