#include "harness/regression/gate/baseline_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/all_cores.hpp"
#include "devices/simulated/simulated_device.hpp"
#include "harness/cases/case_session.hpp"
#include "harness/cases/counters.hpp"
#include "harness/cases/workload.hpp"
#include "harness/machine/ptx_hash.hpp"
#include "harness/plan/device_argument.hpp"
#include "harness/plan/network_argument.hpp"
#include "harness/plan/plan.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kCountSeed = 1;  // of images and weights, which the counters do not depend on
constexpr int kLargestCountedBatch = 8;
constexpr double kMostFlop = 300e6;  // of a batch
constexpr double kSlowFlop = 1e9;    // of an image

/// Fills in the kernels, or why there are none.
void count_case(CountedCase& counted, const PlannedCase& planned, const PtxImages& images, const Workload& workload) {
  counted.baseline.ptx_sha256 = ptx_sha256(images, planned.variant.variant->launch_plan(planned.work.shape));
  simulated::SimulatedDeviceOptions options;
  options.host_threads = 1;  // the cases share the cores
  options.ptx_compiler = images.compiler;
  const SharedMemory window(1);  // no output is asked for
  CaseSession session(planned.id, std::make_unique<simulated::SimulatedDevice>(options), planned.variant, workload,
                      window);
  for (const ordered_json& request : {ordered_json{{"do", "prepare"}, {"problem", "real"}}, {{"do", "count"}}}) {
    const ordered_json reply = session.ask(request);
    if (reply.contains("status")) {
      counted.failure = reply.at("reason").get<std::string>();
      return;
    }
    if (reply.contains("counters")) {
      counted.baseline.kernels = read_kernels(JsonPlace(reply, planned.id).at("counters").at("kernels"));
    }
  }
}

/// All cases of a layer, not counted yet; `plan` says of which planned case and compiler each is.
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
                                    .shape = conv_shape(group.work.shape),
                                    .ptx_sha256 = {},
                                    .unsupported = planned.unsupported,
                                    .kernels = {}},
                       .failure = planned.skipped});
      plan.emplace_back(&planned, images);
    }
  }
  return cases;
}

}  // namespace

double convolution_flop(const Network& network) {
  double flop = 0;
  for (const std::size_t index : convolution_layers(network)) flop += network.layers[index].convolution.flop();
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
  std::vector<std::string> known;
  for (const PtxImages& images : ptx_images()) known.push_back(images.compiler);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) throw UserError(unknown_name_message("compiler", name, known));
  }
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
