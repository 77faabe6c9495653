// Who looks on while a kernel runs: the checkers and the cache model.
//
// The interpreter tells observers what warps do, after it has made sure that an access is aligned and inside of an
// allocation. A run without observers pays one test of a pointer for each access. A launch with observers runs on one
// host thread, so that they need no locks and find the same in every run.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "simulator/ptx/module.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

class BlockContext;
struct Cluster;

/// One memory access of a warp.
struct WarpAccess {
  const Operation* operation = nullptr;
  const WarpState* warp = nullptr;        ///< its block has everything else
  ptx::Space space = ptx::Space::global;  ///< global, constant (which lie there too), shared or local
  const std::array<std::uint64_t, kLanes>* addresses = nullptr;  ///< of the lanes; shared and local ones are offsets
  LaneMask mask = 0;                                             ///< lanes that take part
  int bytes = 0;                                                 ///< of each lane
  AccessKind kind = AccessKind::load;
  const BlockContext* owner = nullptr;  ///< of shared memory: whose, if it is not the warp's own block's
};

/// Called on the host thread that runs the blocks; a launch that is looked on has one.
class AccessObserver {
 public:
  AccessObserver() = default;
  AccessObserver(const AccessObserver&) = delete;
  AccessObserver& operator=(const AccessObserver&) = delete;
  virtual ~AccessObserver() = default;

  /// A block begins; its shared memory holds nothing defined.
  virtual void block_begins(const BlockContext& /*block*/) {}
  virtual void access(const WarpAccess& /*access*/) {}
  /// Warps of the block (a bit for each) have met at a barrier: what they did is ordered before what they do next.
  virtual void barrier_passed(const BlockContext& /*block*/, std::uint32_t /*warps*/) {}
  /// The blocks of a cluster have met at its barrier, with the same effect for all that they reach.
  virtual void cluster_met(const Cluster& /*cluster*/) {}
  /// Lanes of a warp have met (bar.warp.sync), with the same effect for them.
  virtual void warp_synchronized(const WarpState& /*warp*/, LaneMask /*lanes*/) {}
  /// A kernel has allocated memory of the device, or freed it.
  virtual void allocated(std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}
  virtual void freed(std::uint64_t /*address*/) {}
  /// The warp's earlier accesses are ordered before its later ones for the threads of its block, and, from a fence of
  /// gpu or system scope on (membar.gl), for those of other blocks.
  virtual void fenced(const WarpState& /*warp*/, bool /*for_other_blocks*/) {}
  /// A lane begins a copy that takes effect later: from now on it may read its sources (a store has none) and write its
  /// destinations, of which there is at least one. `copy` is its number, from 1 on in each block.
  virtual void copy_begins(std::span<const WarpAccess> /*sources*/, std::span<const WarpAccess> /*destinations*/,
                           std::uint64_t /*copy*/) {}
  /// Data of one is there.
  virtual void copy_lands(const WarpAccess& /*destination*/) {}
  /// A copy of a block arrives at the mbarrier at this offset in shared memory of `owner`.
  virtual void copy_arrives(const BlockContext& /*block*/, std::uint64_t /*copy*/, const BlockContext& /*owner*/,
                            std::uint64_t /*mbarrier*/) {}
  /// The warp has waited for it, at least for its source to be read.
  virtual void copy_seen(const WarpState& /*warp*/, std::uint64_t /*copy*/) {}
  /// The warp arrives at an mbarrier when copies of its own have landed.
  virtual void arrives(const WarpState& /*warp*/, std::uint64_t /*mbarrier*/) {}
  /// A phase of the mbarrier at this offset in shared memory has ended.
  virtual void phase_ended(const BlockContext& /*block*/, std::uint64_t /*mbarrier*/) {}
  /// The warp has found that it has, and acquires what the arrivals of the phase released.
  virtual void phase_seen(const WarpState& /*warp*/, std::uint64_t /*mbarrier*/) {}
};

}  // namespace convladder::simulated
