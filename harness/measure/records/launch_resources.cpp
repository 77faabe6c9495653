#include "harness/measure/records/launch_resources.hpp"

#include <nlohmann/json.hpp>

#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/shape_json.hpp"
#include "simulator/counters/launch_counts.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

std::vector<LaunchResources> resources_of_stage(const FolderVariant& stage,
                                                const std::vector<KernelCounters>& launched) {
  std::vector<LaunchResources> list;
  if (launched.empty()) return list;
  const std::vector<KernelResources> known = stage_resources(stage.build());
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
  if (const FolderVariant* const stage = planned.variant.variant->compiled_stage()) {
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

ordered_json resources_json(const std::vector<LaunchResources>& resources) {
  ordered_json list = ordered_json::array();
  for (const LaunchResources& one : resources) {
    list.push_back({{"kernel", one.kernel.demangled},
                    {"architecture", one.kernel.architecture},
                    {"source", one.kernel.source},
                    {"registers", one.kernel.registers},
                    {"shared_bytes", one.kernel.shared_bytes},
                    {"constant_bytes", one.kernel.constant_bytes},
                    {"stack_bytes", one.kernel.stack_bytes},
                    {"spill_store_bytes", one.kernel.spill_store_bytes},
                    {"spill_load_bytes", one.kernel.spill_load_bytes},
                    {"barriers", one.kernel.barriers},
                    {"grid", dim_json(one.grid)},
                    {"block", dim_json(one.block)},
                    {"dynamic_shared_bytes", one.dynamic_shared_bytes}});
  }
  return list;
}

std::vector<LaunchResources> read_resources(const JsonPlace& place) {
  std::vector<LaunchResources> list;
  for (const JsonPlace& one : place.list()) {
    LaunchResources& launch = list.emplace_back();
    launch.kernel.demangled = one.at("kernel").text();
    launch.kernel.architecture = one.at("architecture").text();
    launch.kernel.registers = one.at("registers").count();
    launch.kernel.shared_bytes = one.at("shared_bytes").count();
    launch.kernel.spill_store_bytes = one.at("spill_store_bytes").count();
    launch.kernel.spill_load_bytes = one.at("spill_load_bytes").count();
    launch.grid = read_dim(one.at("grid"));
    launch.block = read_dim(one.at("block"));
    launch.dynamic_shared_bytes = one.at("dynamic_shared_bytes").whole<std::size_t>();
  }
  return list;
}

}  // namespace convladder
