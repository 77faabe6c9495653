#include "harness/judge/gate/baseline_count.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/all_cores.hpp"
#include "harness/measure/cases/case_client.hpp"
#include "harness/measure/cases/case_session.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/machine/ptx_hash.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/estimate.hpp"
#include "harness/measure/plan/plan.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

constexpr std::uint64_t kCountSeed = 1;  // for images and weights, on which the counters do not depend
constexpr int kLargestCountedBatch = 8;
constexpr double kMostFlop = 300e6;  // of one batch
constexpr double kSlowFlop = 1e9;    // of one image

/// The kernels as a baseline has them, which holds only what they count.
std::vector<KernelCounters> counts_of(const to_case::Counted& counted) {
  std::vector<KernelCounters> kernels = counted.counters.kernels;
  for (KernelCounters& kernel : kernels) {
    kernel.items_executed = 0;
    kernel.depends_on_data = false;
  }
  return kernels;
}

/// Fills in the kernels of a case, or why there are none.
void count_case(CountedCase& counted, const PlannedCase& planned, const PtxImages& images, const Workload& workload) {
  counted.baseline.ptx_sha256 = ptx_sha256(images, planned.variant.variant->launch_plan(planned.work.shape));
  simulated::SimulatedDeviceOptions options;
  options.host_threads = 1;  // the cases share the cores
  options.ptx_compiler = images.compiler;
  const SharedMemory window(1);  // no output is asked for
  CaseSession session(planned.id, std::make_unique<simulated::SimulatedDevice>(options), planned.variant, workload,
                      window);
  const auto prepared = session.ask_for(to_case::Prepare{ProblemKind::real});
  if (const Ending* const ending = std::get_if<Ending>(&prepared)) {
    counted.failure = ending->reason;
    return;
  }
  const auto answer = session.ask_for(to_case::Count());
  if (const Ending* const ending = std::get_if<Ending>(&answer)) {
    counted.failure = ending->reason;
  } else {
    counted.baseline.kernels = counts_of(std::get<to_case::Counted>(answer));
  }
}

/// All cases of a layer, not counted yet; `plan` gets the planned case and the compiler of each.
std::vector<CountedCase> cases_of(const CaseGroup& group, const std::vector<const PtxImages*>& compilers,
                                  std::vector<std::pair<const PlannedCase*, const PtxImages*>>& plan) {
  std::vector<CountedCase> cases;
  for (const PlannedCase& planned : group.cases) {
    if (!planned.variant.info.rung) continue;  // kernels of libraries cannot be counted
    for (const PtxImages* const images : compilers) {
      cases.push_back({.baseline = {.compiler = images->compiler,
                                    .version = images->version,
                                    .layer = group.work.layer,
                                    .variant = std::string(planned.variant.info.name),
                                    .shape = group.work.shape,
                                    .ptx_sha256 = {},
                                    .unsupported = planned.unsupported,
                                    .kernels = {}},
                       .failure = planned.skipped});
      plan.emplace_back(&planned, images);
    }
  }
  return cases;
}

/// "13.0.88", from nvcc's comment in its PTX; "unknown" for another compiler's.
std::string compiler_version(const std::string& ptx) {
  constexpr std::string_view before = ", V";
  const std::size_t line = ptx.find("// Cuda compilation tools");
  const std::size_t at = line == std::string::npos ? line : ptx.find(before, line);
  if (at == std::string::npos) return "unknown";
  const std::size_t begin = at + before.size();
  return ptx.substr(begin, ptx.find_first_not_of("0123456789.", begin) - begin);
}

/// Fills in the kernels of a folder's stage, or why there are none.
void count_stage(CountedCase& counted, const PlannedCase& planned, const Workload& workload) {
  const double seconds = step_timeout_seconds(std::nullopt, {.flop = planned.work.shape.flop(), .bytes = 0},
                                              find_device_kind(planned.device));
  const OpenCase open = start_case_process(planned, workload, {}, seconds);
  try {
    open.ask(to_case::Prepare{ProblemKind::real});
    counted.baseline.kernels = counts_of(open.ask(to_case::Count()));
    if (counted.baseline.kernels.empty()) counted.failure = "it launches no kernel";
  } catch (const CaseFailure& failure) {
    counted.failure = failure.what();
  }
}

CountedCase stage_case(const PlannedCase& planned) {
  const CompiledStage& stage = *planned.variant.variant->compiled_stage();
  const std::string ptx = stage_ptx(stage.build);
  const std::string executed = executed_ptx(ptx);
  CountedCase counted{.baseline = {.compiler = "nvcc",
                                   .version = compiler_version(ptx),
                                   .layer = planned.work.layer,
                                   .variant = std::string(planned.variant.info.name),
                                   .shape = std::nullopt,
                                   .ptx_sha256 = {},
                                   .unsupported = planned.unsupported,
                                   .kernels = {}},
                      .failure = planned.skipped.empty() ? planned.does_not_compile : planned.skipped};
  if (planned.runs()) {
    counted.baseline.ptx_sha256 = sha256_hex(executed);
  }
  return counted;
}

}  // namespace

std::vector<CountedCase> count_folder(const RunOptions& wanted, const std::function<void(const std::string&)>& begin) {
  RunOptions options = wanted;
  options.families = {"cuda"};
  options.devices = {"simulated"};
  const auto is_cuda = [](const ProblemVariant& one) { return one.info.family == "cuda"; };
  if (std::ranges::none_of(problem_of(options).variants(), is_cuda)) {
    throw UserError(fmt::format("{}: no CUDA stage, and only these are counted", printable(options.ladder)));
  }
  std::vector<CountedCase> all;
  for (const CaseGroup& group : make_plan(options)) {
    begin(group.work.name());
    const Workload workload(group.work, synthetic_images(1, kCountSeed), kCountSeed);
    for (const PlannedCase& planned : group.cases) {
      CountedCase& counted = all.emplace_back(stage_case(planned));
      if (planned.runs()) count_stage(counted, planned, workload);
    }
  }
  return all;
}

double convolution_flop(const Network& network) {
  double flop = 0;
  for (const std::size_t index : convolution_layers(network)) flop += network.layers[index].size.flop();
  return flop;
}

int baseline_batch(const Network& network) {
  int batch = kLargestCountedBatch;
  while (batch > 1 && batch * convolution_flop(network) > kMostFlop) batch /= 2;
  return batch;
}

bool counts_slowly(const Network& network) { return convolution_flop(network) > kSlowFlop; }

std::vector<const PtxImages*> selected_compilers(const std::vector<std::string>& names) {
  if (const std::string why = find_device_kind("simulated").unavailable(); !why.empty()) {
    throw UserError(fmt::format("the simulated device: {}", why));
  }
  require_known("compiler", names, names_of(ptx_images(), &PtxImages::compiler));
  std::vector<const PtxImages*> selected;
  for (const PtxImages& images : ptx_images()) {
    if (names.empty() || std::ranges::find(names, images.compiler) != names.end()) selected.push_back(&images);
  }
  return selected;
}

std::vector<CountedCase> count_network(const std::string& network, const std::vector<std::string>& variants,
                                       const std::vector<const PtxImages*>& compilers,
                                       const std::function<void(const std::string&)>& begin) {
  RunOptions options;
  options.families = {"cuda"};
  options.devices = {"simulated"};
  options.variants = variants;
  options.networks = {network};
  options.batches = {baseline_batch(find_network(network))};
  std::vector<CountedCase> all;
  for (const CaseGroup& group : make_plan(options)) {
    begin(group.work.name());
    std::vector<std::pair<const PlannedCase*, const PtxImages*>> plan;
    std::vector<CountedCase> cases = cases_of(group, compilers, plan);
    const Workload workload(group.work, synthetic_images(group.work.shape.batch, kCountSeed), kCountSeed);
    on_all_cores(cases.size(), [&](std::size_t index) {
      CountedCase& one = cases[index];
      if (!one.baseline.unsupported.empty() || !one.failure.empty()) return;
      count_case(one, *plan[index].first, *plan[index].second, workload);
    });
    std::ranges::move(cases, std::back_inserter(all));
  }
  return all;
}

}  // namespace convladder
