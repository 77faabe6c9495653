#include "simulator/gpus/time_model.hpp"

#include <algorithm>
#include <cmath>

namespace convladder {
namespace {

constexpr double kWarpThreads = 32;
constexpr double kSectorBytes = 32;

/// One end of the range: the GPU's figures and the reading of the counters that make the time short, or those that make
/// it long.
class End {
 public:
  End(const GpuFacts& gpu, const LaunchCounts& counts, int resident_blocks, bool optimistic)
      : gpu_(gpu),
        c_(counts),
        optimistic_(optimistic),
        blocks_(static_cast<double>(counts.blocks)),
        multiprocessors_(gpu.multiprocessors),
        resident_(resident_blocks) {}

  double ns(TimeTerm term) const {
    switch (term) {
      case TimeTerm::issue:
        return of_cycles(instructions() / fast(gpu_.issue_per_cycle));
      case TimeTerm::fp32_pipe:
        return of_cycles(pipe_operations(c_.fp32) / gpu_.fp32_lanes);
      case TimeTerm::tensor_cores:
        return of_cycles(tensor_cycles(c_.tensor_tf32, gpu_.tensor_tf32) +
                         tensor_cycles(c_.tensor_half, gpu_.tensor_half));
      case TimeTerm::integer_pipe:
        // ptxas folds address arithmetic into accesses or removes it by unrolling: at best none is left.
        return optimistic_ ? 0 : of_cycles(pipe_operations(c_.integer) / gpu_.int32_lanes.low);
      case TimeTerm::load_store:
        return of_cycles(shared_wavefronts() / gpu_.shared_wavefronts_per_cycle + global_wavefronts());
      case TimeTerm::l2:
        return kSectorBytes * (l2_reads() + l2_writes()) / fast(gpu_.l2_gb_per_s);
      case TimeTerm::dram:
        return dram_bytes() / fast(gpu_.dram_gb_per_s);
      case TimeTerm::latency:
        return of_cycles(waited_cycles() / warps_in_flight());
    }
    return 0;
  }

  /// How often the busiest multiprocessor is filled with blocks.
  double waves() const {
    const double evenly = std::ceil(blocks_ / multiprocessors_) / resident_;
    return optimistic_ ? evenly : std::ceil(blocks_ / (multiprocessors_ * resident_));
  }

 private:
  /// The end of a range of rates that this end of the times uses (`fast`), and the opposite end (`slow`).
  double fast(const Range& range) const { return optimistic_ ? range.high : range.low; }
  double slow(const Range& range) const { return optimistic_ ? range.low : range.high; }

  /// The time of the busiest multiprocessor in ns, from the cycles summed over all of them. At best it gets its whole
  /// blocks one by one as others end, at worst in waves whose last one takes as long as a full one.
  double of_cycles(double cycles) const {
    const double tail =
        optimistic_ || blocks_ <= multiprocessors_ * resident_
            ? std::ceil(blocks_ / multiprocessors_) * multiprocessors_ / blocks_
            : std::ceil(blocks_ / (multiprocessors_ * resident_)) * multiprocessors_ * resident_ / blocks_;
    return 1e3 * cycles / multiprocessors_ / fast(gpu_.clock_mhz) * tail;
  }

  double warps_of_block() const { return std::ceil(static_cast<double>(c_.block.threads) / kWarpThreads); }
  double spill_requests() const { return c_.spilled_bytes / 4 * blocks_ * warps_of_block(); }

  /// Instructions of warps. At best only the arithmetic and the accesses are left of the PTX, at worst all of it.
  double instructions() const {
    if (!optimistic_) return c_.warp_instructions + spill_requests();
    const double needed = c_.fp32 / kWarpThreads + c_.tensor_instructions + c_.global_load_requests +
                          c_.global_store_requests + c_.shared_loads / gpu_.merged_shared_loads.high +
                          c_.shared_stores + c_.barriers + c_.other_memory;
    return std::min(needed, c_.warp_instructions) + spill_requests();
  }

  /// Lane slots of a pipe. At best every warp is full, at worst as idle as the average instruction.
  double pipe_operations(double of_threads) const {
    if (optimistic_ || !(c_.thread_instructions > 0)) return of_threads;
    return of_threads * std::max(1.0, kWarpThreads * c_.warp_instructions / c_.thread_instructions);
  }

  double tensor_cycles(double operations, const Range& per_cycle) const {
    return operations > 0 ? operations / fast(per_cycle) : 0;
  }

  double shared_wavefronts() const {
    return c_.shared_load_wavefronts / fast(gpu_.merged_shared_loads) + c_.shared_store_wavefronts;
  }

  /// Cycles of the L1's data path for global memory.
  double global_wavefronts() const {
    const auto passes = [this](double requests, double sectors) {
      return std::max(requests, kSectorBytes * sectors / gpu_.l1_bytes_per_cycle);
    };
    return passes(c_.global_load_requests, c_.global_load_sectors) +
           passes(c_.global_store_requests, c_.global_store_sectors) + c_.other_memory + spill_requests();
  }

  /// Sectors that loads ask of the L2. Where the modelled GPU has larger caches, its misses are the minimum; at worst
  /// they grow with the square root of the ratio (Hartstein et al. 2006, "Cache miss behavior: is it sqrt(2)?").
  double l2_reads() const {
    const double all = c_.global_load_sectors;
    if (!c_.modelled) return optimistic_ ? 0 : all;
    const double modelled = std::min(all, c_.modelled->l2_read_sectors);
    if (fast(gpu_.l1_caches_global_loads) < 1) return all;
    if (optimistic_) return modelled;
    return std::min(all, modelled * growth(c_.modelled->l1_bytes, static_cast<double>(gpu_.l1_bytes)));
  }
  double l2_writes() const { return c_.modelled ? c_.modelled->l2_write_sectors : c_.global_store_sectors; }

  /// Bytes that come from DRAM. At best, if they fit, all are in the L2 already, left there by the call before.
  double dram_bytes() const {
    const auto l2_bytes = static_cast<double>(gpu_.l2_bytes);
    if (!c_.modelled) return optimistic_ ? 0 : kSectorBytes * (l2_reads() + l2_writes());
    if (optimistic_) return c_.modelled->dram_bytes <= l2_bytes ? 0 : c_.modelled->dram_bytes;
    return std::min(c_.modelled->dram_bytes * growth(c_.modelled->l2_bytes, l2_bytes),
                    std::max(c_.modelled->dram_bytes, kSectorBytes * (l2_reads() + l2_writes())));
  }
  static double growth(double modelled_bytes, double bytes) {
    return bytes > 0 ? std::max(1.0, std::sqrt(modelled_bytes / bytes)) : 1;
  }

  /// Latency of one load from global memory in cycles, by where its sectors were found.
  double load_latency() const {
    if (!(c_.global_load_sectors > 0)) return 0;
    const double to_l2 = std::clamp(l2_reads() / c_.global_load_sectors, 0.0, 1.0);
    double to_dram = optimistic_ ? 0 : to_l2;
    if (c_.modelled && c_.modelled->l2_read_sectors > 0) {
      to_dram = to_l2 * std::clamp(1 - c_.modelled->l2_read_hit_sectors / c_.modelled->l2_read_sectors, 0.0, 1.0);
    }
    return (1 - to_l2) * gpu_.l1_latency + (to_l2 - to_dram) * gpu_.l2_latency + to_dram * slow(gpu_.dram_latency);
  }

  /// Cycles that all warps together wait for results: at best of several instructions at a time, at worst of each in
  /// turn.
  double waited_cycles() const {
    const double loads = (c_.global_load_requests + c_.other_memory) * load_latency() +
                         c_.shared_loads / fast(gpu_.merged_shared_loads) * gpu_.shared_latency +
                         spill_requests() * gpu_.l1_latency;
    return loads / fast(gpu_.loads_in_flight_per_warp) +
           c_.fp32 / kWarpThreads * gpu_.fma_latency / fast(gpu_.independent_operations);
  }

  double warps_in_flight() const {
    return std::min<double>(resident_, std::ceil(blocks_ / multiprocessors_)) * warps_of_block();
  }

  const GpuFacts& gpu_;
  const LaunchCounts& c_;
  bool optimistic_;
  double blocks_;
  double multiprocessors_;
  double resident_;
};

}  // namespace

namespace {

bool lacks_tensor_cores(const GpuFacts& gpu, const LaunchCounts& counts) {
  return (counts.tensor_tf32 > 0 && !(gpu.tensor_tf32.low > 0)) ||
         (counts.tensor_half > 0 && !(gpu.tensor_half.low > 0));
}

}  // namespace

PredictedLaunch predict_launch(const GpuFacts& gpu, const LaunchCounts& counts) {
  PredictedLaunch predicted;
  predicted.residence = occupancy(gpu.occupancy, counts.block);
  if (predicted.residence.blocks == 0 || counts.blocks == 0 || lacks_tensor_cores(gpu, counts)) {
    predicted.residence.blocks = 0;
    return predicted;
  }
  const int most = predicted.residence.blocks;
  const End optimistic(gpu, counts, most, true);
  const End pessimistic(gpu, counts, counts.block.registers ? most : 1, false);
  predicted.waves = {optimistic.waves(), pessimistic.waves()};
  double throughput = 0;
  double longest = 0;
  for (std::size_t i = 0; i < kTimeTerms; ++i) {
    const auto term = static_cast<TimeTerm>(i);
    Range& range = predicted.terms[i];
    range = {optimistic.ns(term), pessimistic.ns(term)};
    range.high = std::max(range.low, range.high);
    if (term != TimeTerm::latency) throughput = std::max(throughput, range.high);
    if (range.low > predicted.ns.low) predicted.ns.low = range.low, predicted.binding_low = term;
    if (range.high > longest) longest = range.high, predicted.binding_high = term;
  }
  predicted.ns.high = throughput + predicted.terms[static_cast<std::size_t>(TimeTerm::latency)].high;
  predicted.ns.low += gpu.launch_overhead_ns.low;
  predicted.ns.high += gpu.launch_overhead_ns.high;
  return predicted;
}

}  // namespace convladder
