// The number of blocks of a kernel that are resident on a multiprocessor at a time, and what limits it.
//
// The rules are those of NVIDIA's cuda_occupancy.h, by the figures of a GPU's file (gpu_facts.hpp), so that they are
// known without a toolkit and for GPUs that the toolkit no longer supports; the tests compare them with that header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {

/// The resources that one block of a kernel needs.
struct BlockNeeds {
  std::uint64_t threads = 1;
  std::optional<int> registers;    ///< per thread; none if no compiler said
  std::uint64_t shared_bytes = 0;  ///< static and dynamic
};

struct Occupancy {
  int blocks = 0;  ///< per multiprocessor; 0: the kernel cannot be launched
  int warps = 0;
  double share = 0;                     ///< the part of the warps that a multiprocessor can hold
  std::vector<std::string> limited_by;  ///< which of "warps", "blocks", "registers" and "shared memory" allow no more
};

Occupancy occupancy(const OccupancyLimits& limits, const BlockNeeds& needs);

/// The clusters of so many blocks that run at a time, if a multiprocessor holds `blocks` of them. The blocks of a
/// cluster are in one group of multiprocessors (GPC). How a GPU's are grouped is not documented and differs from chip
/// to chip: by convention there are eight groups of whole pairs (TPC), as equal as they can be.
int resident_clusters(int multiprocessors, int blocks, int blocks_of_cluster);

}  // namespace convladder
