// Who looks on while a kernel runs: the checkers and the cache model.
//
// The interpreter tells observers what warps do, after it has made sure that an access is aligned and inside of an
// allocation. A run without observers pays one test of a pointer for each access.
#pragma once

#include <array>
#include <cstdint>

#include "devices/simulated/execution/operation.hpp"
#include "devices/simulated/ptx/module.hpp"

namespace convladder::simulated {

class BlockContext;

/// What a warp does to memory.
enum class AccessKind : std::uint8_t { load, store, atomic };

/// One memory access of a warp.
struct WarpAccess {
  const Operation* operation = nullptr;
  const WarpState* warp = nullptr;                               ///< its block has everything else
  ptx::Space space = ptx::Space::global;                         ///< global (constants too), shared or local
  const std::array<std::uint64_t, kLanes>* addresses = nullptr;  ///< of the lanes; shared and local ones are offsets
  LaneMask mask = 0;                                             ///< lanes that take part
  int bytes = 0;                                                 ///< of each lane
  AccessKind kind = AccessKind::load;
};

/// Called on the host thread that runs the block. One observer serves one host thread and never hears of another's
/// blocks; what several found is merged at the end, in the order of blocks.
class AccessObserver {
 public:
  AccessObserver() = default;
  AccessObserver(const AccessObserver&) = delete;
  AccessObserver& operator=(const AccessObserver&) = delete;
  virtual ~AccessObserver() = default;

  /// A block begins on a simulated multiprocessor; its shared memory holds nothing defined.
  virtual void block_begins(const BlockContext& /*block*/, int /*multiprocessor*/) {}
  virtual void access(const WarpAccess& /*access*/) {}
  /// A warp arrives at the block's barrier; `missing` are its live lanes that are elsewhere.
  virtual void barrier_reached(const WarpState& /*warp*/, const Operation& /*operation*/, LaneMask /*missing*/) {}
  /// All warps of the block have arrived: what was done before is ordered before what follows.
  virtual void barrier_passed(const BlockContext& /*block*/) {}
  virtual void block_ends(const BlockContext& /*block*/) {}
};

}  // namespace convladder::simulated
