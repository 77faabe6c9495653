// The blocks of a cluster, which can access each other's shared memory (PTX ISA 9.0, 2.2.1 and 5.1.5).
//
// An address in shared::cluster is an offset in the shared memory of a block, with the block's rank above its bits, as
// on GPUs: that of a variable is one in the own block. So own address XOR (k << 24) is one in another block. As a
// generic address it is in the window of shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

inline constexpr unsigned kRankShift = 24;  // a block has less than 2^24 bytes

/// The address in shared::cluster of an offset in the shared memory of the block of a rank.
inline std::uint64_t cluster_address(unsigned rank, std::uint64_t offset) {
  return std::uint64_t{rank} << kRankShift | offset;
}

/// The meaning of an address in shared::cluster.
struct SharedPlace {
  BlockContext* owner = nullptr;  ///< none: no block of the cluster
  std::uint64_t offset = 0;       ///< in the owner's shared memory, which may be smaller
};
SharedPlace shared_place(BlockContext& block, std::uint64_t address);
/// As `shared_place`, for an access: an instruction that reaches only its own block may leave the rank out.
SharedPlace shared_place(BlockContext& block, const Operation& operation, std::uint64_t address);
/// Makes offsets of addresses that all lie in the block's own shared memory; otherwise false.
bool make_own_offsets(const BlockContext& block, const Operation& operation, std::span<std::uint64_t> addresses);

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
