#include "harness/measure/records/prediction.hpp"

#include <array>
#include <cstdlib>

#include "devices/kernel_resources.hpp"
#include "simulator/caches/gpu_model.hpp"
#include "simulator/counters/launch_counts.hpp"
#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {
namespace {

using simulated::counted;
using simulated::dram_bytes;
using simulated::has_traffic;
using simulated::tensor_half;
using simulated::tensor_tf32;

constexpr double kSectorBytes = 32;
constexpr double kWavefrontBytes = 128;

/// The report of ptxas on the kernel for that architecture; null if there is none.
const LaunchResources* resources_for(const KernelCounters& kernel, const std::vector<LaunchResources>& resources,
                                     const std::string& architecture) {
  for (const LaunchResources& one : resources) {
    if (one.kernel.architecture == architecture && one.grid == kernel.grid && one.block == kernel.block &&
        display_name(one.kernel.demangled) == kernel.kernel) {
      return &one;
    }
  }
  return nullptr;
}

/// Whether ptxas has compiled this kernel only for architectures newer than the GPU: it uses features that older ones
/// lack.
bool needs_newer_architecture(const KernelCounters& kernel, const std::vector<LaunchResources>& resources,
                              const GpuFacts& gpu) {
  const auto number = [](const std::string& architecture) { return std::atoi(architecture.c_str() + 3); };  // "sm_80"
  bool made = false;
  for (const LaunchResources& one : resources) {
    if (display_name(one.kernel.demangled) != kernel.kernel) continue;
    if (number(one.kernel.architecture) <= number(gpu.resources_of)) return false;
    made = true;
  }
  return made;
}

LaunchCounts launch_counts(const KernelCounters& kernel, const LaunchResources* resources) {
  LaunchCounts counts = simulated::launch_counts(kernel, simulated::default_gpu_model());
  if (resources == nullptr) return counts;
  counts.block.registers = resources->kernel.registers;
  counts.block.shared_bytes =
      static_cast<std::uint64_t>(resources->kernel.shared_bytes) + resources->dynamic_shared_bytes;
  counts.spilled_bytes = resources->kernel.spill_store_bytes + resources->kernel.spill_load_bytes;
  return counts;
}

PredictedLaunch not_launched(const char* limited_by) {
  PredictedLaunch launch;
  launch.residence.limited_by = {limited_by};
  return launch;
}

GpuPrediction predict_on(const GpuFacts& gpu, const CaseCounters& counted,
                         const std::vector<LaunchResources>& resources) {
  GpuPrediction prediction{.gpu = &gpu, .kernels = {}, .beside_ns = beside_ns(gpu, counted.beside), .ns = {}};
  prediction.ns = Range{prediction.beside_ns, prediction.beside_ns};
  Range longest;
  for (const KernelCounters& kernel : counted.kernels) {
    const LaunchCounts counts = launch_counts(kernel, resources_for(kernel, resources, gpu.resources_of));
    const PredictedLaunch launch =
        needs_newer_architecture(kernel, resources, gpu) ? not_launched("architecture") : predict_launch(gpu, counts);
    prediction.kernels.push_back({kernel.kernel, counts.block, launch});
    if (launch.residence.blocks == 0) prediction.ns.reset();
    if (!prediction.ns) continue;
    prediction.ns->low += launch.ns.low;
    prediction.ns->high += launch.ns.high;
    if (launch.ns.low > longest.low) longest.low = launch.ns.low, prediction.binding_low = launch.binding_low;
    if (launch.ns.high > longest.high) longest.high = launch.ns.high, prediction.binding_high = launch.binding_high;
  }
  return prediction;
}

Roofline roofline_of(const CaseCounters& all) {
  const CounterValues& totals = all.totals;
  Roofline roofline{
      .flop = counted(totals, "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",
                      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum") +
              tensor_tf32(totals) + tensor_half(totals),
      .shared_bytes = kWavefrontBytes * counted(totals, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                                "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
      .l1_bytes = kSectorBytes * counted(totals, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                         "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
      .l2_bytes = {},
      .dram_bytes = {}};
  if (has_traffic(all.modelled)) {
    roofline.l2_bytes =
        kSectorBytes * counted(all.modelled, "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum");
    roofline.dram_bytes = dram_bytes(all.modelled);
  }
  return roofline;
}

}  // namespace

double beside_ns(const GpuFacts& gpu, const WorkBeside& work) {
  constexpr double kBeginNs = 1e3;  // of a copy or a fill, as in the stand-in's timeline
  const double on_device = work.moved_bytes / gpu.dram_gb_per_s.low + kBeginNs * work.operations;
  return work.bus_ns + work.calls_ns + on_device + work.host_ns;
}

std::optional<Prediction> predict(const CaseCounters& counted, const std::vector<LaunchResources>& resources) {
  if (counted.kernels.empty()) return std::nullopt;
  Prediction prediction{roofline_of(counted), {}};
  for (const GpuFacts& gpu : gpu_facts()) prediction.gpus.push_back(predict_on(gpu, counted, resources));
  return prediction;
}

}  // namespace convladder
