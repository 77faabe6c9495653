#include "harness/measure/runs/step_needs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "simulator/counters/launch_counts.hpp"

namespace convladder {
namespace {

constexpr double kBytesOfSector = 32;
constexpr double kWarpThreads = 32;
constexpr double kMost = 0.6;  // of a unit's time: a need that takes as much is named alone

using Parts = std::array<double, kNeeds>;

constexpr std::array<NeedWords, kNeeds> kWords = {
    {{"executes", "instructions", "now executes instructions", "instructions"},
     {"executes", "fp32 operations", "now executes fp32 operations", "fp32 operations"},
     {"executes", "operations on the tensor cores", "multiplies on the tensor cores", "tensor operations"},
     {"takes", "passes through shared memory", "now also uses shared memory", "shared memory"},
     {"loads", "sectors from global memory", "now also loads from global memory", "loads from global memory"},
     {"stores", "sectors to global memory", "now also stores to global memory", "stores to global memory"},
     {"makes", "accesses to local memory", "now also uses local memory", "accesses to local memory"},
     {"makes", "asynchronous copies", "copies to shared memory asynchronously", "asynchronous copies"},
     {"makes", "atomic operations", "now also makes atomic operations", "atomic operations"},
     {"reads", "sectors from the L2 (modelled)", "now also reads the L2 (modelled)", "reads"},
     {"moves", "bytes to and from DRAM (modelled)", "now also moves bytes to and from DRAM (modelled)", "bytes"}}};

double& of(Parts& parts, Need need) { return parts[static_cast<std::size_t>(need)]; }

const std::array<NeedCounters, kNeeds>& all_counters() {
  static const std::array<NeedCounters, kNeeds> all = {
      {{{"smsp__inst_executed.sum"}},
       {{"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"}},
       {{"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
         "sm__ops_path_tensor_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum"}},
       {{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
         "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
       {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}},
       {{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}},
       {{"smsp__inst_executed_op_local_ld.sum", "smsp__inst_executed_op_local_st.sum"}},
       {{"smsp__inst_executed_op_ldgsts.sum"}},
       {{"smsp__inst_executed_op_global_atom.sum", "smsp__inst_executed_op_global_red.sum",
         "smsp__inst_executed_op_shared_atom.sum"}},
       {{"lts__t_sectors_op_read.sum"}, true},
       {{"dram__bytes_read.sum", "dram__bytes_write.sum"}, true}}};
  return all;
}

double count_of(const CaseCounters& counted, const NeedCounters& counters) {
  const CounterValues& values = counters.is_modelled ? counted.modelled : counted.totals;
  double sum = 0;
  for (const char* const name : counters.names) sum += simulated::counted(values, name);
  return sum;
}

Parts counts_of(const CaseCounters& counted) {
  Parts counts{};
  for (std::size_t i = 0; i < kNeeds; ++i) counts[i] = count_of(counted, all_counters()[i]);
  return counts;
}

/// The parts of a unit's time that each need takes, in no particular unit.
Parts parts_of(const CaseCounters& counted, const GpuFacts& gpu, TimeTerm term, bool optimistic) {
  const CounterValues& totals = counted.totals;
  Parts counts = counts_of(counted);
  Parts parts{};
  const auto passes = [&](Need need, const char* requests) {
    return std::max(simulated::counted(totals, requests), kBytesOfSector * of(counts, need) / gpu.l1_bytes_per_cycle);
  };
  const double merged = optimistic ? gpu.merged_shared_loads.high : gpu.merged_shared_loads.low;
  switch (term) {
    case TimeTerm::issue:
    case TimeTerm::integer_pipe:
      of(parts, Need::instructions) = 1;
      break;
    case TimeTerm::fp32_pipe:
      of(parts, Need::fp32) = 1;
      break;
    case TimeTerm::tensor_cores:
      of(parts, Need::tensor) = 1;
      break;
    case TimeTerm::load_store:
      of(parts, Need::shared) =
          (simulated::counted(totals, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") / merged +
           simulated::counted(totals, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")) /
          gpu.shared_wavefronts_per_cycle;
      of(parts, Need::global_loads) = passes(Need::global_loads, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
      of(parts, Need::global_stores) = passes(Need::global_stores, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
      of(parts, Need::local) = of(counts, Need::local);
      of(parts, Need::asynchronous) = of(counts, Need::asynchronous);
      of(parts, Need::atomics) = of(counts, Need::atomics);
      break;
    case TimeTerm::l2:
      of(parts, Need::l2_reads) = of(counts, Need::l2_reads);
      of(parts, Need::global_stores) = simulated::counted(counted.modelled, "lts__t_sectors_op_write.sum");
      break;
    case TimeTerm::dram:
      of(parts, Need::dram) = 1;
      break;
    case TimeTerm::latency:
      of(parts, Need::global_loads) =
          simulated::counted(totals, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") * gpu.l2_latency;
      of(parts, Need::asynchronous) = of(counts, Need::asynchronous) * gpu.l2_latency;
      of(parts, Need::local) = of(counts, Need::local) * gpu.l1_latency;
      of(parts, Need::atomics) = of(counts, Need::atomics) * gpu.l2_latency;
      of(parts, Need::shared) =
          simulated::counted(totals, "smsp__sass_inst_executed_op_shared_ld.sum") / merged * gpu.shared_latency;
      of(parts, Need::fp32) = of(counts, Need::fp32) / kWarpThreads * gpu.fma_latency;
      break;
  }
  return parts;
}

double sum_of_parts(const Parts& parts) {
  double all = 0;
  for (const double part : parts) all += part;
  return all;
}

}  // namespace

const NeedWords& words_of(Need need) { return kWords[static_cast<std::size_t>(need)]; }

const NeedCounters& counters_of(Need need) { return all_counters()[static_cast<std::size_t>(need)]; }

const NeedCounters& conflict_counters() {
  static const NeedCounters conflicts = {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"}};
  return conflicts;
}

StepNeeds needs_of(const CaseCounters& counted, const PredictedFigure* prediction, const GpuFacts* gpu) {
  StepNeeds needs;
  needs.counts = counts_of(counted);
  needs.conflicts = count_of(counted, conflict_counters());
  if (prediction == nullptr || gpu == nullptr || !prediction->runs()) return needs;
  for (std::size_t i = 0; i < kTimeTerms; ++i) {
    const Range& term = prediction->terms[i];
    needs.longest_low = std::max(needs.longest_low, term.low);
    needs.longest_high = std::max(needs.longest_high, term.high);
    for (const bool optimistic : {true, false}) {
      const Parts parts = parts_of(counted, *gpu, static_cast<TimeTerm>(i), optimistic);
      const double all = sum_of_parts(parts);
      if (!(all > 0)) continue;
      for (std::size_t need = 0; need < kNeeds; ++need) {
        (optimistic ? needs.ns[need].low : needs.ns[need].high) +=
            (optimistic ? term.low : term.high) * parts[need] / all;
      }
    }
  }
  return needs;
}

std::string main_part(const CaseCounters& counted, const GpuFacts& gpu, TimeTerm term, bool optimistic) {
  if (term != TimeTerm::load_store && term != TimeTerm::l2) return {};
  const Parts parts = parts_of(counted, gpu, term, optimistic);
  std::vector<Need> order;
  for (std::size_t i = 0; i < kNeeds; ++i) {
    if (parts[i] > 0) order.push_back(static_cast<Need>(i));
  }
  const auto part = [&parts](Need need) { return parts[static_cast<std::size_t>(need)]; };
  std::ranges::stable_sort(order, std::greater<>(), part);
  const auto words = [term](Need need) {
    return term == TimeTerm::l2 && need == Need::global_stores ? "writes" : words_of(need).part;
  };
  if (order.empty()) return {};
  if (order.size() == 1 || part(order.front()) >= kMost * sum_of_parts(parts)) return words(order.front());
  return fmt::format("{} and {}", words(order[0]), words(order[1]));
}

}  // namespace convladder
