#include "simulator/caches/gpu_model.hpp"

#include <algorithm>

#include "simulator/gpus/gpu_facts.hpp"

namespace convladder::simulated {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kSystemSharedBytes = kKiB;  // reserved in every block, since compute capability 8.0
constexpr std::uint64_t kWarpThreads = 32;

std::uint64_t shared_of_block(std::uint64_t shared_bytes) { return shared_bytes + kSystemSharedBytes; }

}  // namespace

const std::vector<GpuModel>& gpu_models() {
  static const std::vector<GpuModel> models = [] {
    std::vector<GpuModel> list;
    for (const GpuFacts& gpu : gpu_facts()) {
      if (gpu.l1_caches_global_loads.low < 1) continue;  // the caches modelled here are not those of such a GPU
      list.push_back({.name = gpu.name,
                      .title = gpu.title,
                      .source = gpu.paper,
                      .multiprocessors = gpu.multiprocessors,
                      .warps_per_multiprocessor = gpu.occupancy.warps_per_multiprocessor,
                      .blocks_per_multiprocessor = gpu.occupancy.blocks_per_multiprocessor,
                      .l1_bytes = gpu.l1_bytes,
                      .shared_splits = gpu.shared_splits,
                      .l2_bytes = gpu.l2_bytes});
    }
    return list;
  }();
  return models;
}

const GpuModel& default_gpu_model() {
  const auto found = std::ranges::find(gpu_models(), "h100", &GpuModel::name);
  return found == gpu_models().end() ? gpu_models().front() : *found;
}

std::uint64_t resident_blocks(const GpuModel& gpu, std::uint64_t threads, std::uint64_t shared_bytes) {
  const std::uint64_t warps = std::max<std::uint64_t>(1, (threads + kWarpThreads - 1) / kWarpThreads);
  std::uint64_t resident = std::min<std::uint64_t>(static_cast<std::uint64_t>(gpu.blocks_per_multiprocessor),
                                                   static_cast<std::uint64_t>(gpu.warps_per_multiprocessor) / warps);
  resident = std::min(resident, gpu.shared_splits.back() / shared_of_block(shared_bytes));
  return std::max<std::uint64_t>(1, resident);
}

std::uint64_t l1_cache_bytes(const GpuModel& gpu, std::uint64_t threads, std::uint64_t shared_bytes) {
  if (shared_bytes == 0) return gpu.l1_bytes;
  const std::uint64_t needed = resident_blocks(gpu, threads, shared_bytes) * shared_of_block(shared_bytes);
  for (const std::uint64_t split : gpu.shared_splits) {
    if (split >= needed) return gpu.l1_bytes - split;
  }
  return gpu.l1_bytes - gpu.shared_splits.back();
}

}  // namespace convladder::simulated
