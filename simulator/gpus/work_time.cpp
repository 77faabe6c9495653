#include "simulator/gpus/work_time.hpp"

#include <algorithm>

namespace convladder {
namespace {

// A convention of this model: at worst a library reaches half of what the hardware has.
constexpr double kPoorest = 0.5;

double ns_of(const GpuFacts& gpu, const WorkAmount& work, bool optimistic) {
  const auto fast = [optimistic](const Range& range) { return optimistic ? range.high : range.low; };
  const double reached = optimistic ? 1 : kPoorest;
  const double cycles_per_ns = fast(gpu.clock_mhz) * 1e-3;
  const double rate = cycles_per_ns * gpu.multiprocessors * reached;  // of one operation a cycle and multiprocessor
  constexpr double kFused = 2;                                        // a multiplication and an addition at once
  const double fp32 = rate * kFused * gpu.fp32_lanes;
  const auto on_tensor_cores = [&](double operations, const Range& per_cycle) {
    return operations / (fast(per_cycle) > 0 ? rate * fast(per_cycle) : fp32);
  };
  const double arithmetic = work.fp32 / fp32 + work.fp64 / (rate * kFused * fast(gpu.fp64_lanes)) +
                            on_tensor_cores(work.tensor_tf32, gpu.tensor_tf32) +
                            on_tensor_cores(work.tensor_half, gpu.tensor_half);
  const double memory = work.bytes / (fast(gpu.dram_gb_per_s) * reached);
  const double overhead = optimistic ? gpu.launch_overhead_ns.low : gpu.launch_overhead_ns.high;
  const double latency = (optimistic ? gpu.dram_latency.low : gpu.dram_latency.high) / cycles_per_ns;
  return std::max(arithmetic, memory) + overhead + work.steps * latency;
}

}  // namespace

Range predict_work(const GpuFacts& gpu, const WorkAmount& work) {
  return {ns_of(gpu, work, true), ns_of(gpu, work, false)};
}

}  // namespace convladder
