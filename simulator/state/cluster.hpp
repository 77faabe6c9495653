// The blocks of a cluster, which can access each other's shared memory (PTX ISA 9.0, 2.2.1 and 5.1.5).
//
// An address in shared::cluster is an offset in the own block's shared memory, or, as made by mapa, one in that of the
// block of a rank, with the rank above its bits. As a generic address it is in the window of shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

inline constexpr unsigned kRankShift = 24;  // a block has less than 2^24 bytes

/// The address in shared::cluster of an offset in the shared memory of a block; `own` is the rank of the block that
/// asks.
inline std::uint64_t cluster_address(unsigned rank, unsigned own, std::uint64_t offset) {
  return (rank == own ? 0 : std::uint64_t{rank + 1} << kRankShift) | offset;
}

/// The meaning of an address in shared::cluster.
struct SharedPlace {
  BlockContext* owner = nullptr;  ///< none: no block of the cluster
  std::uint64_t offset = 0;       ///< in the owner's shared memory, which may be smaller
};
SharedPlace shared_place(BlockContext& block, std::uint64_t address);

struct Cluster {
  Dim3 size;                          ///< in blocks
  std::vector<BlockContext*> blocks;  ///< by rank
};

/// The places of the data of the lanes of an access to shared::cluster; lanes outside of `mask` get the place of a lane
/// in it. Faulty lanes are reported: the result is the mask without them. Observers are told.
LaneMask reach_cluster(const WarpState& warp, const Operation& operation, const Addresses& addresses, LaneMask mask,
                       int bytes, AccessKind kind, std::array<std::byte*, kLanes>& at);
/// The place of any number of bytes of one lane; nullptr, and a fault, where it is not possible. Observers are not
/// told.
std::byte* reach_in_cluster(const WarpState& warp, const Operation& operation, int lane, std::uint64_t address,
                            std::uint64_t bytes, AccessKind kind);

}  // namespace convladder::simulated
