// The L1 caches of the simulated multiprocessors above one L2: how many sectors go where.
//
// An L1 belongs to one multiprocessor and is never shared between host threads. What it asks of the L2 is logged, and
// the logs of all multiprocessors are merged into the L2 at the end of every wave of blocks, in turns of one request.
// So every figure is the same for every number of host threads.
//
// Conventions where NVIDIA says nothing: both caches as in sectored_cache.hpp and empty when a launch begins; L1 writes
// through and takes no line in for a store; atomics go to the L2; the L2 writes back, needs no fill for a store, and
// writes its dirty sectors when the launch ends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/caches/gpu_model.hpp"
#include "simulator/caches/l1_cache.hpp"

namespace convladder::simulated {

/// Sectors of 32 bytes, summed over a whole launch.
struct CacheCounters {
  std::uint64_t l1_load_sectors = 0;  ///< looked up by loads from global memory
  std::uint64_t l1_load_hits = 0;
  std::uint64_t l1_texture_hits = 0;  ///< sectors of textures that were in the L1
  std::uint64_t l2_read_sectors = 0;  ///< asked of the L2 by loads
  std::uint64_t l2_read_hits = 0;
  std::uint64_t l2_write_sectors = 0;   ///< written by stores and atomics
  std::uint64_t dram_read_sectors = 0;  ///< missed in the L2
  std::uint64_t dram_write_sectors = 0;
  bool complete = true;  ///< false if a log grew beyond all bounds: then only the L1's figures hold

  CacheCounters& operator+=(const CacheCounters& other);
};

class CacheHierarchy {
 public:
  explicit CacheHierarchy(const GpuModel& gpu);
  ~CacheHierarchy();
  CacheHierarchy(const CacheHierarchy&) = delete;
  CacheHierarchy& operator=(const CacheHierarchy&) = delete;

  /// Begins a launch with empty caches. Memory of earlier launches is used again.
  void begin(std::uint64_t l1_bytes);

  /// The L1 of a multiprocessor, which begins when it is first asked for, by the one host thread that has the
  /// multiprocessor.
  L1Cache& l1(std::size_t multiprocessor) {
    OfMultiprocessor& one = l1_[multiprocessor];
    if (!one.takes_part) one.begin(l1_bytes_);
    return *one.cache;
  }

  /// The L2 is divided into this many slices by address; each may be merged by a host thread of its own.
  static constexpr std::size_t kSlices = L1Cache::kSlices;
  /// Applies what all multiprocessors logged for a slice since the last time.
  void merge(std::size_t slice);

  /// Ends the launch and writes back all dirty sectors.
  CacheCounters finish();

 private:
  struct Slice;
  struct OfMultiprocessor {
    std::unique_ptr<L1Cache> cache;
    bool takes_part = false;  ///< whether it is used in this launch
    void begin(std::uint64_t bytes);
  };
  std::uint64_t l2_bytes_;
  std::uint64_t l1_bytes_ = 0;
  std::vector<OfMultiprocessor> l1_;
  std::vector<std::unique_ptr<Slice>> slices_;
};

}  // namespace convladder::simulated
