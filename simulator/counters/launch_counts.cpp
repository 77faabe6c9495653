#include "simulator/counters/launch_counts.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace convladder::simulated {

double figure(const NamedFigures& figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, &std::pair<std::string, double>::first);
  return found == figures.end() ? 0 : found->second;
}

double tensor_tf32(const NamedFigures& figures) {
  return counted(figures, "sm__ops_path_tensor_src_tf32_dst_fp32.sum");
}

double tensor_half(const NamedFigures& figures) {
  return counted(figures, "sm__ops_path_tensor_src_fp16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16_dst_fp16.sum",
                 "sm__ops_path_tensor_src_bf16_dst_fp32.sum");
}

bool has_traffic(const NamedFigures& modelled) {
  const auto has = [&modelled](std::string_view name) {
    return std::ranges::find(modelled, name, &std::pair<std::string, double>::first) != modelled.end();
  };
  return has("lts__t_sectors_op_read.sum") && has("dram__bytes_read.sum");
}

double dram_bytes(const NamedFigures& modelled) {
  return counted(modelled, "dram__bytes_read.sum", "dram__bytes_write.sum");
}

namespace {

std::optional<LaunchCounts::Modelled> modelled_counts(const NamedFigures& modelled, const GpuModel& gpu) {
  if (!has_traffic(modelled)) return std::nullopt;
  return LaunchCounts::Modelled{
      .l1_hit_sectors = counted(modelled, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"),
      .l2_read_sectors = counted(modelled, "lts__t_sectors_op_read.sum"),
      .l2_read_hit_sectors = counted(modelled, "lts__t_sectors_op_read_lookup_hit.sum"),
      .l2_write_sectors = counted(modelled, "lts__t_sectors_op_write.sum"),
      .dram_bytes = dram_bytes(modelled),
      .l1_bytes = static_cast<double>(gpu.l1_bytes),
      .l2_bytes = static_cast<double>(gpu.l2_bytes)};
}

}  // namespace

LaunchCounts launch_counts(const KernelCounters& kernel, const GpuModel& gpu) {
  const NamedFigures& values = kernel.values;
  LaunchCounts counts;
  counts.blocks = kernel.grid.count();
  counts.block.threads = kernel.block.count();
  counts.warp_instructions = counted(values, "smsp__inst_executed.sum");
  counts.thread_instructions = counted(values, "smsp__thread_inst_executed_pred_on.sum");
  counts.fp32 = counted(values, "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum");
  counts.tensor_instructions = counted(values, "sm__inst_executed_pipe_tensor.sum");
  counts.tensor_tf32 = tensor_tf32(values);
  counts.tensor_half = tensor_half(values);
  counts.integer = counted(values, "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
                           "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum");
  counts.global_load_requests = counted(values, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
  counts.global_load_sectors = counted(values, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
  counts.global_store_requests = counted(values, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
  counts.global_store_sectors = counted(values, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
  counts.shared_loads = counted(values, "smsp__sass_inst_executed_op_shared_ld.sum");
  counts.shared_load_wavefronts = counted(values, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
  counts.shared_stores = counted(values, "smsp__sass_inst_executed_op_shared_st.sum");
  counts.shared_store_wavefronts = counted(values, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
  counts.barriers = counted(values, "smsp__inst_executed_op_barrier.sum");
  counts.other_memory = counted(values, "smsp__inst_executed_op_global_atom.sum",
                                "smsp__inst_executed_op_global_red.sum", "smsp__inst_executed_op_shared_atom.sum",
                                "smsp__inst_executed_op_ldgsts.sum", "smsp__inst_executed_op_ldsm.sum",
                                "smsp__inst_executed_op_local_ld.sum", "smsp__inst_executed_op_local_st.sum");
  counts.modelled = modelled_counts(kernel.modelled, gpu);
  return counts;
}

}  // namespace convladder::simulated
