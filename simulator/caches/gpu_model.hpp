// The GPU whose multiprocessors and caches the simulated device models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convladder::simulated {

/// Sizes are from the vendor's architecture papers; our conventions for what they leave open are marked as such.
struct GpuModel {
  std::string name;    ///< as typed: "h100"
  std::string title;   ///< "NVIDIA H100 SXM"
  std::string source;  ///< where the sizes come from
  int multiprocessors = 0;
  int warps_per_multiprocessor = 0;          ///< resident at a time
  int blocks_per_multiprocessor = 0;         ///< resident at a time
  std::uint64_t l1_bytes = 0;                ///< L1 of a multiprocessor, shared memory included
  std::vector<std::uint64_t> shared_splits;  ///< the sizes of the L1 that can be shared memory in bytes, ascending
  std::uint64_t l2_bytes = 0;
};

/// The models of all GPUs in simulator/gpus/ whose L1 caches loads from global memory, oldest first.
const std::vector<GpuModel>& gpu_models();

/// An H100 SXM.
const GpuModel& default_gpu_model();

/// Blocks of `threads` threads with `shared_bytes` of shared memory each that are resident on a multiprocessor at a
/// time; at least one. Ignores registers.
std::uint64_t resident_blocks(const GpuModel& gpu, std::uint64_t threads, std::uint64_t shared_bytes);

/// Bytes of a multiprocessor's memory that remain as its L1 cache while such blocks are resident: the smallest split
/// that holds the shared memory of all of them is taken.
std::uint64_t l1_cache_bytes(const GpuModel& gpu, std::uint64_t threads, std::uint64_t shared_bytes);

}  // namespace convladder::simulated
