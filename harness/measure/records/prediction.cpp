#include "harness/measure/records/prediction.hpp"

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "devices/kernel_resources.hpp"
#include "simulator/caches/gpu_model.hpp"
#include "simulator/counters/launch_counts.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/json_null.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using simulated::counted;
using simulated::dram_bytes;
using simulated::has_traffic;
using simulated::tensor_half;
using simulated::tensor_tf32;

constexpr const char* kModel = "bottlenecks 2";  // the number changes with the model: predictions by two models cannot
                                                 // be compared
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

GpuPrediction predict_on(const GpuFacts& gpu, const std::vector<KernelCounters>& kernels,
                         const std::vector<LaunchResources>& resources) {
  GpuPrediction prediction{.gpu = &gpu, .kernels = {}, .ns = Range{}};
  Range longest;
  for (const KernelCounters& kernel : kernels) {
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

Roofline roofline_of(const CountedFigures& all) {
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

const char* name_of(TimeTerm term) { return kTimeTermNames[static_cast<std::size_t>(term)]; }

ordered_json range_json(const Range& range) { return {{"low", range.low}, {"high", range.high}}; }

/// The value, or null if it is not known.
ordered_json known(bool is_known, ordered_json value) { return is_known ? std::move(value) : ordered_json(); }

ordered_json kernel_json(const PredictedKernel& kernel) {
  const PredictedLaunch& launch = kernel.launch;
  const bool runs = launch.residence.blocks > 0;
  ordered_json terms = ordered_json::object();
  for (std::size_t i = 0; i < kTimeTerms; ++i) terms[kTimeTermNames[i]] = range_json(launch.terms[i]);
  return {{"kernel", kernel.name},
          {"registers", or_null(kernel.block.registers)},
          {"shared_bytes", known(kernel.block.registers.has_value(), kernel.block.shared_bytes)},
          {"occupancy",
           {{"blocks", launch.residence.blocks},
            {"warps", launch.residence.warps},
            {"share", launch.residence.share},
            {"limited_by", launch.residence.limited_by}}},
          {"waves", known(runs, range_json(launch.waves))},
          {"low", known(runs, launch.ns.low)},
          {"high", known(runs, launch.ns.high)},
          {"binding_low", known(runs, name_of(launch.binding_low))},
          {"binding_high", known(runs, name_of(launch.binding_high))},
          {"terms", known(runs, std::move(terms))}};
}

ordered_json ceilings_json(const GpuFacts& gpu) {
  const double multiprocessor_ghz = gpu.multiprocessors * gpu.clock_mhz.high * 1e-3;
  ordered_json ceilings = {{"fp32_gflop_per_s", 2 * gpu.fp32_lanes * multiprocessor_ghz},
                           {"shared_gb_per_s", kWavefrontBytes * gpu.shared_wavefronts_per_cycle * multiprocessor_ghz},
                           {"l1_gb_per_s", gpu.l1_bytes_per_cycle * multiprocessor_ghz},
                           {"l2_gb_per_s", gpu.l2_gb_per_s.high},
                           {"dram_gb_per_s", gpu.dram_gb_per_s.high}};
  if (gpu.tensor_tf32.high > 0) ceilings["tensor_tf32_gflop_per_s"] = gpu.tensor_tf32.high * multiprocessor_ghz;
  if (gpu.tensor_half.high > 0) ceilings["tensor_half_gflop_per_s"] = gpu.tensor_half.high * multiprocessor_ghz;
  return ceilings;
}

ordered_json gpu_json(const GpuPrediction& one) {
  ordered_json kernels = ordered_json::array();
  for (const PredictedKernel& kernel : one.kernels) kernels.push_back(kernel_json(kernel));
  const bool runs = one.ns.has_value();
  const Range ns = one.ns.value_or(Range{});
  return {{"gpu", one.gpu->name},
          {"title", one.gpu->title},
          {"resources_of", one.gpu->resources_of},
          {"low", known(runs, ns.low)},
          {"high", known(runs, ns.high)},
          {"binding_low", known(runs, name_of(one.binding_low))},
          {"binding_high", known(runs, name_of(one.binding_high))},
          {"ceilings", ceilings_json(*one.gpu)},
          {"kernels", std::move(kernels)}};
}

}  // namespace

std::optional<Prediction> predict(const CountedFigures& counted, const std::vector<LaunchResources>& resources) {
  if (counted.kernels.empty()) return std::nullopt;
  Prediction prediction{roofline_of(counted), {}};
  for (const GpuFacts& gpu : gpu_facts()) prediction.gpus.push_back(predict_on(gpu, counted.kernels, resources));
  return prediction;
}

ordered_json prediction_json(const std::optional<Prediction>& prediction) {
  if (!prediction) return nullptr;
  const Roofline& roofline = prediction->roofline;
  ordered_json gpus = ordered_json::array();
  for (const GpuPrediction& one : prediction->gpus) gpus.push_back(gpu_json(one));
  return {{"kind", "predicted"},
          {"of", "op"},
          {"unit", "ns"},
          {"model", kModel},
          {"roofline",
           {{"flop", roofline.flop},
            {"shared_bytes", roofline.shared_bytes},
            {"l1_bytes", roofline.l1_bytes},
            {"l2_bytes", or_null(roofline.l2_bytes)},
            {"dram_bytes", or_null(roofline.dram_bytes)}}},
          {"gpus", std::move(gpus)}};
}

}  // namespace convladder
