#include "harness/measure/records/launch_resources.hpp"

#include "harness/measure/ladders/opened_ladder.hpp"
#include "simulator/counters/launch_counts.hpp"

namespace convladder {

namespace {

std::vector<LaunchResources> resources_of_stage(const CompiledStage& stage,
                                                const std::vector<KernelCounters>& launched) {
  std::vector<LaunchResources> list;
  if (launched.empty()) return list;
  const std::vector<KernelResources> known = stage_resources(stage.build);
  for (const KernelCounters& launch : launched) {
    for (const KernelResources& kernel : known) {
      if (display_name(kernel.kernel) != launch.kernel) continue;
      LaunchResources one{kernel, launch.grid, launch.block,
                          static_cast<std::size_t>(simulated::figure(launch.values, simulated::kDynamicSharedBytes))};
      list.push_back(std::move(one));
    }
  }
  return list;
}

}  // namespace

std::vector<LaunchResources> resources_of(const PlannedCase& planned, const std::vector<KernelCounters>& launched) {
  if (const CompiledStage* const stage = planned.variant.variant->compiled_stage()) {
    return resources_of_stage(*stage, launched);
  }
  std::vector<LaunchResources> list;
  if (!planned.unsupported.empty()) return list;
  if (!planned.variant.variant->unsupported_reason(planned.work.shape).empty()) return list;
  for (const KernelLaunch& launch : planned.variant.variant->launch_plan(planned.work.shape)) {
    for (const KernelResources& kernel : kernel_resources(launch.kernel)) {
      list.push_back({kernel, launch.grid, launch.block, launch.dynamic_shared_bytes});
    }
  }
  return list;
}

}  // namespace convladder
