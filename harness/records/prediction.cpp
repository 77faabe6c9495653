#include "harness/records/prediction.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "devices/gpus/gpu_facts.hpp"
#include "devices/gpus/time_model.hpp"
#include "devices/kernel_resources.hpp"
#include "devices/simulated/caches/gpu_model.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr const char* kModel = "bottlenecks 2";  // the number changes with the model: predictions of two do not compare
constexpr double kSectorBytes = 32;
constexpr double kWavefrontBytes = 128;

/// A counter of a kernel or of a case by its short name; 0 where a kernel has none of it.
double counted(const ordered_json& values, const char* name) { return values.value(name, 0.0); }

double tensor_tf32(const ordered_json& values) { return counted(values, "sm__ops_path_tensor_src_tf32_dst_fp32.sum"); }

double tensor_half(const ordered_json& values) {
  return counted(values, "sm__ops_path_tensor_src_fp16_dst_fp32.sum") +
         counted(values, "sm__ops_path_tensor_src_fp16_dst_fp16.sum") +
         counted(values, "sm__ops_path_tensor_src_bf16_dst_fp32.sum");
}

double sectors(const ordered_json& values) {
  return counted(values, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
         counted(values, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
}

double wavefronts(const ordered_json& values) {
  return counted(values, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
         counted(values, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
}

bool has_traffic(const ordered_json& modelled) {
  return modelled.contains("lts__t_sectors_op_read.sum") && modelled.contains("dram__bytes_read.sum");
}

double dram_bytes(const ordered_json& modelled) {
  return counted(modelled, "dram__bytes_read.sum") + counted(modelled, "dram__bytes_write.sum");
}

double l2_bytes(const ordered_json& modelled) {
  return kSectorBytes *
         (counted(modelled, "lts__t_sectors_op_read.sum") + counted(modelled, "lts__t_sectors_op_write.sum"));
}

std::uint64_t product(const ordered_json& dimensions) {
  std::uint64_t count = 1;
  for (const ordered_json& one : dimensions) count *= one.get<std::uint64_t>();
  return count;
}

/// The kernel's entry in `resources` for that architecture; null if there is none.
const ordered_json* resources_of(const ordered_json& kernel, const ordered_json& resources,
                                 const std::string& architecture) {
  for (const ordered_json& one : resources) {
    if (one.at("architecture") == architecture && one.at("grid") == kernel.at("grid") &&
        one.at("block") == kernel.at("block") &&
        display_name(one.at("kernel").get<std::string>()) == kernel.at("kernel").get<std::string>()) {
      return &one;
    }
  }
  return nullptr;
}

/// Whether ptxas has made this kernel only for architectures that are newer than the GPU: it uses what older ones lack.
bool needs_newer_architecture(const ordered_json& kernel, const ordered_json& resources, const GpuFacts& gpu) {
  const auto number = [](const std::string& architecture) { return std::atoi(architecture.c_str() + 3); };  // "sm_80"
  bool made = false;
  for (const ordered_json& one : resources) {
    if (display_name(one.at("kernel").get<std::string>()) != kernel.at("kernel").get<std::string>()) continue;
    if (number(one.at("architecture").get<std::string>()) <= number(gpu.resources_of)) return false;
    made = true;
  }
  return made;
}

void add_modelled(const ordered_json& modelled, LaunchCounts& counts) {
  if (!has_traffic(modelled)) return;
  const simulated::GpuModel& gpu = simulated::default_gpu_model();
  counts.modelled = LaunchCounts::Modelled{
      .l1_hit_sectors = counted(modelled, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"),
      .l2_read_sectors = counted(modelled, "lts__t_sectors_op_read.sum"),
      .l2_read_hit_sectors = counted(modelled, "lts__t_sectors_op_read_lookup_hit.sum"),
      .l2_write_sectors = counted(modelled, "lts__t_sectors_op_write.sum"),
      .dram_bytes = dram_bytes(modelled),
      .l1_bytes = static_cast<double>(gpu.l1_bytes),
      .l2_bytes = static_cast<double>(gpu.l2_bytes)};
}

LaunchCounts launch_counts(const ordered_json& kernel, const ordered_json* resources) {
  const ordered_json& values = kernel.at("values");
  LaunchCounts counts;
  counts.blocks = product(kernel.at("grid"));
  counts.block.threads = product(kernel.at("block"));
  if (resources != nullptr) {
    counts.block.registers = resources->at("registers").get<int>();
    counts.block.shared_bytes =
        resources->at("shared_bytes").get<std::uint64_t>() + resources->at("dynamic_shared_bytes").get<std::uint64_t>();
    counts.spilled_bytes =
        resources->at("spill_store_bytes").get<double>() + resources->at("spill_load_bytes").get<double>();
  }
  counts.warp_instructions = counted(values, "smsp__inst_executed.sum");
  counts.thread_instructions = counted(values, "smsp__thread_inst_executed_pred_on.sum");
  counts.fp32 = counted(values, "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum");
  counts.tensor_instructions = counted(values, "sm__inst_executed_pipe_tensor.sum");
  counts.tensor_tf32 = tensor_tf32(values);
  counts.tensor_half = tensor_half(values);
  counts.integer = counted(values, "smsp__sass_thread_inst_executed_op_integer_pred_on.sum") +
                   counted(values, "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum");
  counts.global_load_requests = counted(values, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
  counts.global_load_sectors = counted(values, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
  counts.global_store_requests = counted(values, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
  counts.global_store_sectors = counted(values, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
  counts.shared_loads = counted(values, "smsp__sass_inst_executed_op_shared_ld.sum");
  counts.shared_load_wavefronts = counted(values, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
  counts.shared_stores = counted(values, "smsp__sass_inst_executed_op_shared_st.sum");
  counts.shared_store_wavefronts = counted(values, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
  counts.barriers = counted(values, "smsp__inst_executed_op_barrier.sum");
  for (const char* name : {"smsp__inst_executed_op_global_atom.sum", "smsp__inst_executed_op_global_red.sum",
                           "smsp__inst_executed_op_shared_atom.sum", "smsp__inst_executed_op_ldgsts.sum",
                           "smsp__inst_executed_op_ldsm.sum", "smsp__inst_executed_op_local_ld.sum",
                           "smsp__inst_executed_op_local_st.sum"}) {
    counts.other_memory += counted(values, name);
  }
  add_modelled(kernel.at("modelled"), counts);
  return counts;
}

ordered_json range_json(const Range& range) { return {{"low", range.low}, {"high", range.high}}; }

const char* name_of(TimeTerm term) { return kTimeTermNames[static_cast<std::size_t>(term)]; }

ordered_json kernel_json(const ordered_json& kernel, const LaunchCounts& counts, const PredictedLaunch& launch) {
  const bool runs = launch.residence.blocks > 0;
  const ordered_json none;
  ordered_json terms = ordered_json::object();
  for (std::size_t i = 0; i < kTimeTerms; ++i) terms[kTimeTermNames[i]] = range_json(launch.terms[i]);
  return {{"kernel", kernel.at("kernel")},
          {"registers", counts.block.registers ? ordered_json(*counts.block.registers) : none},
          {"shared_bytes", counts.block.registers ? ordered_json(counts.block.shared_bytes) : none},
          {"occupancy",
           {{"blocks", launch.residence.blocks},
            {"warps", launch.residence.warps},
            {"share", launch.residence.share},
            {"limited_by", launch.residence.limited_by}}},
          {"waves", runs ? range_json(launch.waves) : none},
          {"low", runs ? ordered_json(launch.ns.low) : none},
          {"high", runs ? ordered_json(launch.ns.high) : none},
          {"binding_low", runs ? ordered_json(name_of(launch.binding_low)) : none},
          {"binding_high", runs ? ordered_json(name_of(launch.binding_high)) : none},
          {"terms", runs ? terms : none}};
}

ordered_json ceilings_json(const GpuFacts& gpu) {
  const double multiprocessor_ghz = gpu.multiprocessors * gpu.clock_mhz.high * 1e-3;
  return {{"fp32_gflop_per_s", 2 * gpu.fp32_lanes * multiprocessor_ghz},
          {"shared_gb_per_s", kWavefrontBytes * gpu.shared_wavefronts_per_cycle * multiprocessor_ghz},
          {"l1_gb_per_s", gpu.l1_bytes_per_cycle * multiprocessor_ghz},
          {"l2_gb_per_s", gpu.l2_gb_per_s.high},
          {"dram_gb_per_s", gpu.dram_gb_per_s.high}};
}

PredictedLaunch not_launched(const char* limited_by) {
  PredictedLaunch launch;
  launch.residence.limited_by = {limited_by};
  return launch;
}

/// The kernels of a case run one after another: their times add up, and the longest names what binds.
ordered_json gpu_json(const GpuFacts& gpu, const ordered_json& counters, const ordered_json& resources) {
  ordered_json kernels = ordered_json::array();
  ordered_json low = 0.0;
  ordered_json high = 0.0;
  ordered_json binding_low;
  ordered_json binding_high;
  double longest_low = 0;
  double longest_high = 0;
  for (const ordered_json& kernel : counters.at("kernels")) {
    const LaunchCounts counts = launch_counts(kernel, resources_of(kernel, resources, gpu.resources_of));
    const PredictedLaunch launch =
        needs_newer_architecture(kernel, resources, gpu) ? not_launched("architecture") : predict_launch(gpu, counts);
    kernels.push_back(kernel_json(kernel, counts, launch));
    if (launch.residence.blocks == 0) {
      low = high = nullptr;
      continue;
    }
    if (!low.is_null()) low = low.get<double>() + launch.ns.low;
    if (!high.is_null()) high = high.get<double>() + launch.ns.high;
    if (launch.ns.low > longest_low) longest_low = launch.ns.low, binding_low = name_of(launch.binding_low);
    if (launch.ns.high > longest_high) longest_high = launch.ns.high, binding_high = name_of(launch.binding_high);
  }
  if (low.is_null()) binding_low = binding_high = nullptr;
  return {{"gpu", gpu.name},
          {"title", gpu.title},
          {"resources_of", gpu.resources_of},
          {"low", low},
          {"high", high},
          {"binding_low", binding_low},
          {"binding_high", binding_high},
          {"ceilings", ceilings_json(gpu)},
          {"kernels", std::move(kernels)}};
}

ordered_json roofline_json(const ordered_json& counters) {
  const ordered_json& totals = counters.at("totals");
  const ordered_json& modelled = counters.at("modelled");
  const bool traffic = has_traffic(modelled);
  return {{"flop", counted(totals, "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum") +
                       counted(totals, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum") + tensor_tf32(totals) +
                       tensor_half(totals)},
          {"shared_bytes", kWavefrontBytes * wavefronts(totals)},
          {"l1_bytes", kSectorBytes * sectors(totals)},
          {"l2_bytes", traffic ? ordered_json(l2_bytes(modelled)) : ordered_json()},
          {"dram_bytes", traffic ? ordered_json(dram_bytes(modelled)) : ordered_json()}};
}

}  // namespace

ordered_json prediction_json(const ordered_json& counters, const ordered_json& resources) {
  if (counters.is_null() || counters.at("kernels").empty()) return nullptr;
  ordered_json gpus = ordered_json::array();
  for (const GpuFacts& gpu : gpu_facts()) gpus.push_back(gpu_json(gpu, counters, resources));
  return {
      {"kind", "predicted"},    {"of", "op"}, {"unit", "ns"}, {"model", kModel}, {"roofline", roofline_json(counters)},
      {"gpus", std::move(gpus)}};
}

}  // namespace convladder
