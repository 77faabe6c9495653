// The observers of a running kernel: the checkers and the cache model.
//
// The interpreter tells observers what warps do, after checking that an access is aligned and inside an allocation. A
// run without observers pays one test of a pointer for each access. A launch with observers runs on one host thread, so
// that they need no locks and find the same in every run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simulator/ptx/module.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

class BlockContext;
struct Cluster;

/// The data of a store for each lane, from lane 0 on.
struct StoredData {
  const std::byte* first = nullptr;
  std::size_t stride = 0;  ///< bytes from a lane's to the next one's
};

/// One memory access of a warp.
struct WarpAccess {
  const Operation* operation = nullptr;
  const WarpState* warp = nullptr;        ///< its block has everything else
  ptx::Space space = ptx::Space::global;  ///< global, constant (also in global memory), shared or local
  const std::array<std::uint64_t, kLanes>* addresses = nullptr;  ///< of the lanes; offsets for shared and local memory
  LaneMask mask = 0;                                             ///< lanes that take part
  int bytes = 0;                                                 ///< per lane
  AccessKind kind = AccessKind::load;
  const BlockContext* owner = nullptr;  ///< the owner of shared memory, if it is another block than the warp's
  StoredData data{};                    ///< none: the data of a store is in its registers, or not known
};

/// A fence between the proxies through which memory is reached (fence.proxy): the accesses of threads that it shows to
/// asynchronous copies and products, and to copies by tensor map.
struct ProxyFence {
  bool shared = false;         ///< to asynchronous accesses to shared memory
  bool global = false;         ///< to asynchronous accesses to global memory
  bool releases_maps = false;  ///< writes of tensor maps, to those who acquire them
  bool acquires_map = false;   ///< what has been released of the tensor map at `map`, to the thread's own copies
  std::uint64_t map = 0;
};

/// Observes a launch. Called on the host thread that runs the blocks, of which an observed launch has only one.
class AccessObserver {
 public:
  AccessObserver() = default;
  AccessObserver(const AccessObserver&) = delete;
  AccessObserver& operator=(const AccessObserver&) = delete;
  virtual ~AccessObserver() = default;

  /// A block begins; its shared memory is undefined.
  virtual void block_begins(const BlockContext& /*block*/) {}
  virtual void access(const WarpAccess& /*access*/) {}
  /// Lanes begin copies into shared memory (cp.async) that change something: from now on they may write there, and they
  /// do by the time at which they are waited for, which is a store.
  virtual void copies_come(const WarpAccess& /*destination*/) {}
  /// Warps of the block (a bit for each) have met at a barrier: their earlier work is ordered before their later work.
  virtual void barrier_passed(const BlockContext& /*block*/, std::uint32_t /*warps*/) {}
  /// The blocks of a cluster have met at its barrier, which orders everything that they reach in the same way.
  virtual void cluster_met(const Cluster& /*cluster*/) {}
  /// Lanes of a warp have met (bar.warp.sync), which orders their work in the same way.
  virtual void warp_synchronized(const WarpState& /*warp*/, LaneMask /*lanes*/) {}
  /// Lanes of a warp have met to exchange something (shuffles, votes) or at bar.warp.sync. An exchange orders no memory
  /// accesses, but one of the lanes may speak for them from then on.
  virtual void lanes_met(const WarpState& /*warp*/, LaneMask /*lanes*/) {}
  /// A kernel has allocated memory of the device, or freed it.
  virtual void allocated(std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}
  virtual void freed(std::uint64_t /*address*/) {}
  /// The warp's earlier accesses are ordered before its later ones for the threads of its block, and, for a fence of
  /// gpu or system scope (membar.gl), for those of other blocks.
  virtual void fenced(const WarpState& /*warp*/, const Operation& /*operation*/, bool /*for_other_blocks*/) {}
  /// All that the warp's lanes have done so far, and seen of others, is there for another proxy.
  virtual void proxy_fenced(const WarpState& /*warp*/, const Operation& /*operation*/, const ProxyFence& /*fence*/) {}
  /// A lane begins a copy that takes effect later: from now on it may read its sources (a store has none) and write its
  /// destinations, of which there is at least one. `copy` is its number, from 1 on in each block.
  virtual void copy_begins(std::span<const WarpAccess> /*sources*/, std::span<const WarpAccess> /*destinations*/,
                           std::uint64_t /*copy*/) {}
  /// Another lane's copy is the same as the one that began as number `first`, which is told of no more.
  virtual void copy_repeats(const WarpState& /*warp*/, std::uint64_t /*copy*/, std::uint64_t /*first*/) {}
  /// Data of a copy has been written.
  virtual void copy_lands(const WarpAccess& /*destination*/) {}
  /// A copy of a block arrives at the mbarrier at this offset in shared memory of `owner`.
  virtual void copy_arrives(const BlockContext& /*block*/, std::uint64_t /*copy*/, const BlockContext& /*owner*/,
                            std::uint64_t /*mbarrier*/) {}
  /// The warp has waited for the copy, or, if it has not landed, only for its source to be read.
  virtual void copy_seen(const WarpState& /*warp*/, std::uint64_t /*copy*/, bool /*has_landed*/) {}
  /// The warp commits a group of products of matrices (wgmma), which read shared memory until somebody has waited.
  virtual void products_committed(const WarpState& /*warp*/) {}
  /// The warps of a group (a bit for each) make a product together: what they did before is done when it is.
  virtual void products_met(const BlockContext& /*block*/, std::uint32_t /*warps*/) {}
  /// The warp has waited for all but its latest `left` groups of products. Four warps make each product together.
  virtual void products_waited_for(const WarpState& /*warp*/, std::uint32_t /*left*/) {}
  /// The warp arrives at an mbarrier when its own copies have landed.
  virtual void arrives(const WarpState& /*warp*/, std::uint64_t /*mbarrier*/) {}
  /// A phase of the mbarrier at this offset in shared memory has ended.
  virtual void phase_ended(const BlockContext& /*block*/, std::uint64_t /*mbarrier*/) {}
  /// The warp has found that a phase has ended, and acquires what the arrivals of the phase released.
  virtual void phase_seen(const WarpState& /*warp*/, std::uint64_t /*mbarrier*/) {}
};

}  // namespace convladder::simulated
