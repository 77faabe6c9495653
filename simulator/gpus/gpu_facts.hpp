// Facts about named GPUs: sizes and rates, each with unit and source, as data (simulator/gpus/*.json, built into the
// program). The simulated device's caches, the occupancy and the time model all take their figures from here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// A figure that is known only between two bounds; `low` is the smaller number.
struct Range {
  double low = 0;
  double high = 0;

  bool operator==(const Range&) const = default;
};

/// The limits of a multiprocessor's resources for blocks, and the units in which they are given out; as in
/// cuda_occupancy.h.
struct OccupancyLimits {
  int warps_per_multiprocessor = 0;
  int blocks_per_multiprocessor = 0;
  int threads_per_block = 0;
  int registers_per_multiprocessor = 0;
  int registers_per_block = 0;
  int registers_per_thread = 0;
  int register_allocation_unit = 0;  ///< registers of a warp are rounded up to a multiple of it
  int register_partitions = 0;       ///< parts of a multiprocessor, each with its share of the registers
  int shared_per_multiprocessor = 0;
  int shared_per_block = 0;           ///< the most that a block may ask for
  int shared_allocation_unit = 0;     ///< shared memory of a block is rounded up to a multiple of it
  int shared_reserved_per_block = 0;  ///< reserved by the system
};

/// The GPU for predictions when no other is named.
inline constexpr const char* kUsualGpu = "h100";

struct GpuFacts {
  std::string name;                ///< as typed: "h100"
  std::string title;               ///< "NVIDIA H100 SXM"
  std::string paper;               ///< the source called "paper", for most sizes
  int year = 0;                    ///< the year in which it appeared
  std::string compute_capability;  ///< "9.0"
  std::string resources_of;        ///< the architecture whose registers ptxas reports for it, "sm_90": its own or the
                                   ///< nearest that the toolkit still knows

  int multiprocessors = 0;
  Range clock_mhz;        ///< the clock of the multiprocessors
  Range issue_per_cycle;  ///< warp instructions that a multiprocessor issues
  double fp32_lanes = 0;  ///< per multiprocessor
  Range fp64_lanes;       ///< per multiprocessor, without and with tensor cores
  Range int32_lanes;      ///< per multiprocessor, from its slowest to its fastest integer operations
  Range tensor_tf32;      ///< operations per cycle and multiprocessor by mma, of dense matrices; 0: it has none
  Range tensor_half;      ///< as `tensor_tf32`, for half precision or bfloat16, summed in fp32
  double shared_wavefronts_per_cycle = 0;
  Range merged_shared_loads;                 ///< loads of one float each that ptxas may merge into one wide load
  double l1_bytes_per_cycle = 0;             ///< per multiprocessor
  std::uint64_t l1_bytes = 0;                ///< per multiprocessor, shared memory included
  std::vector<std::uint64_t> shared_splits;  ///< the sizes of the L1 that can be shared memory in bytes, ascending
  Range l1_caches_global_loads;              ///< 1: they go through the L1; 0: they do not
  std::uint64_t l2_bytes = 0;
  Range l2_gb_per_s;
  Range dram_gb_per_s;
  double fma_latency = 0;  ///< in cycles, like the other latencies
  double shared_latency = 0;
  double l1_latency = 0;
  double l2_latency = 0;
  Range dram_latency;
  Range loads_in_flight_per_warp;
  Range independent_operations;  ///< of one warp, which need not wait for each other
  Range launch_overhead_ns;
  OccupancyLimits occupancy;
};

/// Reads a file; messages call it `file`. Throws UserError "FILE: place: expected …" for text that is not JSON, a
/// missing or unknown member, a wrong unit, a source that is not listed, or is listed but not used, a negative number,
/// a count that is not a whole number, or bounds in the wrong order.
GpuFacts parse_gpu_facts(std::string_view text, const std::string& file);

/// All GPUs that this program was built with, oldest first.
const std::vector<GpuFacts>& gpu_facts();

/// The GPU of that name; nullptr if there is none.
const GpuFacts* find_gpu(std::string_view name);

}  // namespace convladder
