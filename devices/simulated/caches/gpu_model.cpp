#include "devices/simulated/caches/gpu_model.hpp"

#include <algorithm>

namespace convladder::simulated {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kSystemSharedBytes = kKiB;  // of every block, since compute capability 8.0
constexpr std::uint64_t kWarpThreads = 32;

std::uint64_t shared_of_block(std::uint64_t shared_bytes) { return shared_bytes + kSystemSharedBytes; }

}  // namespace

const std::vector<GpuModel>& gpu_models() {
  static const std::vector<GpuModel> models = {
      {.name = "h100",
       .title = "NVIDIA H100 SXM",
       .source = "NVIDIA H100 architecture paper (2022); CUDA C++ programming guide, compute capability 9.0",
       .multiprocessors = 132,
       .warps_per_multiprocessor = 64,
       .blocks_per_multiprocessor = 32,
       .l1_bytes = 256 * kKiB,
       .shared_splits = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 100 * kKiB, 132 * kKiB, 164 * kKiB, 196 * kKiB,
                         228 * kKiB},
       .l2_bytes = 50 * kMiB},
      {.name = "a100",
       .title = "NVIDIA A100 SXM",
       .source = "NVIDIA A100 architecture paper (2020); CUDA C++ programming guide, compute capability 8.0",
       .multiprocessors = 108,
       .warps_per_multiprocessor = 64,
       .blocks_per_multiprocessor = 32,
       .l1_bytes = 192 * kKiB,
       .shared_splits = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 100 * kKiB, 132 * kKiB, 164 * kKiB},
       .l2_bytes = 40 * kMiB},
      {.name = "v100",
       .title = "NVIDIA V100 SXM2",
       .source = "NVIDIA V100 architecture paper (2017); CUDA C++ programming guide, compute capability 7.0",
       .multiprocessors = 80,
       .warps_per_multiprocessor = 64,
       .blocks_per_multiprocessor = 32,
       .l1_bytes = 128 * kKiB,
       .shared_splits = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 96 * kKiB},
       .l2_bytes = 6 * kMiB},
  };
  return models;
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
