#include "simulator/gpus/occupancy.hpp"

#include <algorithm>
#include <utility>

namespace convladder {
namespace {

constexpr std::uint64_t kWarpThreads = 32;

std::uint64_t rounded_up(std::uint64_t number, std::uint64_t unit) { return (number + unit - 1) / unit * unit; }

std::uint64_t blocks_by_registers(const OccupancyLimits& limits, std::uint64_t warps, int registers) {
  if (registers > limits.registers_per_thread) return 0;
  const auto unit = static_cast<std::uint64_t>(limits.register_allocation_unit);
  const auto partitions = static_cast<std::uint64_t>(limits.register_partitions);
  const std::uint64_t of_warp = rounded_up(static_cast<std::uint64_t>(registers) * kWarpThreads, unit);
  // The launch is checked as if a block's warps were spread over all partitions evenly.
  if (of_warp * rounded_up(warps, partitions) > static_cast<std::uint64_t>(limits.registers_per_block)) return 0;
  const std::uint64_t of_partition = static_cast<std::uint64_t>(limits.registers_per_multiprocessor) / partitions;
  return of_partition / of_warp * partitions / warps;
}

std::uint64_t blocks_by_shared_memory(const OccupancyLimits& limits, std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(limits.shared_per_block)) return 0;
  const std::uint64_t allocated = rounded_up(bytes + static_cast<std::uint64_t>(limits.shared_reserved_per_block),
                                             static_cast<std::uint64_t>(limits.shared_allocation_unit));
  return static_cast<std::uint64_t>(limits.shared_per_multiprocessor) / allocated;
}

}  // namespace

Occupancy occupancy(const OccupancyLimits& limits, const BlockNeeds& needs) {
  const std::uint64_t warps = std::max<std::uint64_t>(1, rounded_up(needs.threads, kWarpThreads) / kWarpThreads);
  const bool too_many = needs.threads > static_cast<std::uint64_t>(limits.threads_per_block);
  std::vector<std::pair<const char*, std::uint64_t>> allowed = {
      {"warps", too_many ? 0 : static_cast<std::uint64_t>(limits.warps_per_multiprocessor) / warps},
      {"blocks", static_cast<std::uint64_t>(limits.blocks_per_multiprocessor)}};
  if (needs.registers && *needs.registers > 0) {
    allowed.emplace_back("registers", blocks_by_registers(limits, warps, *needs.registers));
  }
  if (needs.shared_bytes + static_cast<std::uint64_t>(limits.shared_reserved_per_block) > 0) {
    allowed.emplace_back("shared memory", blocks_by_shared_memory(limits, needs.shared_bytes));
  }
  const std::uint64_t blocks =
      std::ranges::min_element(allowed, {}, &std::pair<const char*, std::uint64_t>::second)->second;
  Occupancy result;
  result.blocks = static_cast<int>(blocks);
  result.warps = static_cast<int>(blocks * warps);
  result.share = static_cast<double>(result.warps) / limits.warps_per_multiprocessor;
  for (const auto& [name, number] : allowed) {
    if (number == blocks) result.limited_by.emplace_back(name);
  }
  return result;
}

int resident_clusters(int multiprocessors, int blocks, int blocks_of_cluster) {
  constexpr int kGroups = 8;
  if (blocks_of_cluster <= 0) return 0;
  int clusters = 0;
  const int pairs = multiprocessors / 2;
  for (int group = 0; group < kGroups; ++group) {
    const int pairs_here = pairs / kGroups + (group < pairs % kGroups ? 1 : 0);
    clusters += 2 * pairs_here * blocks / blocks_of_cluster;
  }
  return clusters;
}

}  // namespace convladder
