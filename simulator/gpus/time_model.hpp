// The time that a launch would take on a named GPU, as a range: predicted from its counts, never measured.
//
//   T = max(issue, fp32 pipe, tensor cores, integer pipe, load/store unit, L2, DRAM, latency) x wave tail + launch
//   overhead
//
// In the pessimistic case no latency is hidden: it is added to the largest of the other terms.
//
// Each term is what the launch needs of one resource over what the GPU has of it; `latency` is Little's law: the
// cycles that the instructions of a warp wait, over the warps that are resident to hide them. After Hong and Kim 2009,
// "An analytical model for a GPU architecture", and the roofline model of Williams, Waterman and Patterson 2009.
// docs/use/prediction.md says what the optimistic and the pessimistic end of each term assume, and how wrong it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/gpus/occupancy.hpp"

namespace convladder {

/// The counts of a whole launch: instructions of PTX, sectors of 32 bytes.
struct LaunchCounts {
  std::uint64_t blocks = 1;
  BlockNeeds block;
  double spilled_bytes = 0;        ///< per thread: stored to and loaded from local memory by ptxas, each once
  double warp_instructions = 0;    ///< all instructions of warps
  double thread_instructions = 0;  ///< all instructions of threads
  double fp32 = 0;                 ///< instructions of threads
  double tensor_instructions = 0;  ///< instructions of warps
  double tensor_tf32 = 0;          ///< operations in tf32: multiplications and additions
  double tensor_half = 0;          ///< operations with factors in half precision or bfloat16
  double integer = 0;              ///< instructions of threads: integer operations and conversions
  double global_load_requests = 0;
  double global_load_sectors = 0;
  double global_store_requests = 0;
  double global_store_sectors = 0;
  double shared_load_wavefronts = 0;
  double shared_store_wavefronts = 0;
  double shared_loads = 0;
  double shared_stores = 0;
  double barriers = 0;
  double other_memory = 0;  ///< instructions of warps: atomics, asynchronous copies, matrix and local accesses

  /// Traffic in a model of one GPU's caches; none if they were not modelled.
  struct Modelled {
    double l1_hit_sectors = 0;
    double l2_read_sectors = 0;
    double l2_read_hit_sectors = 0;
    double l2_write_sectors = 0;
    double dram_bytes = 0;
    double l1_bytes = 0;  ///< size of the modelled GPU's L1 caches
    double l2_bytes = 0;
  };
  std::optional<Modelled> modelled;
};

enum class TimeTerm { issue, fp32_pipe, tensor_cores, integer_pipe, load_store, l2, dram, latency };
constexpr std::size_t kTimeTerms = 8;
constexpr std::array<const char*, kTimeTerms> kTimeTermNames = {"issue",          "fp32 pipe",       "tensor cores",
                                                                "integer pipe",   "load/store unit", "L2 bandwidth",
                                                                "DRAM bandwidth", "latency"};

struct PredictedLaunch {
  Occupancy residence;  ///< blocks 0: the kernel cannot be launched, and nothing else is set
  Range waves;          ///< how often the busiest multiprocessor is filled: with even and with whole waves
  Range ns;             ///< optimistic and pessimistic time, with the launch overhead
  TimeTerm binding_low = TimeTerm::issue;   ///< the term that limits the optimistic time
  TimeTerm binding_high = TimeTerm::issue;  ///< the term that limits the pessimistic time
  std::array<Range, kTimeTerms> terms;      ///< each term in ns, the tail of the last wave included
};

/// Without registers in `counts`, the optimistic end assumes that they do not limit the kernel, and the pessimistic one
/// a single block on each multiprocessor.
PredictedLaunch predict_launch(const GpuFacts& gpu, const LaunchCounts& counts);

}  // namespace convladder
