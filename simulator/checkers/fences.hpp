// The fences of a block, and what they show: fences between threads for other blocks, and fences between proxies (PTX
// ISA 9.0, 8.6: proxies, and 9.7.13.4: fence, fence.proxy).
//
// Copies in bulk and products of matrices reach memory through the asynchronous proxy, copies by tensor map read the
// map through one of its own, and everything else goes through the generic proxy. An access through the generic proxy
// is there for one through another proxy if a fence lies between them: behind the first, by its thread or by one that
// is ordered behind it, and before the second in the same sense. The order of threads alone does not do.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "simulator/checkers/warp_clocks.hpp"
#include "simulator/state/access_observer.hpp"

namespace convladder::simulated {

/// Everything that fences before some point have shown.
struct Shown {
  WarpClocks clocks;
  std::uint64_t time = 0;  ///< of the last of them; 0: there is none
};

/// A point in a warp's work at which it needs to know what has been shown.
struct FencePoint {
  const WarpClocks& seen;  ///< what the warp has seen
  int warp = 0;
  LaneMask lanes = 0;  ///< those whose fences count, whether their warp has met since or not
};

/// The fences of one kind in a block.
class Fences {
 public:
  struct Fence {
    LaneMask lanes = 0;
    std::uint32_t clock = 0;  ///< of the warp
    int instruction = 0;
    Shown shown;
  };

  void add(int warp, const Fence& fence);
  /// Joins what the fences before the point have shown.
  Shown before(const FencePoint& point) const;
  bool empty() const { return latest_ < 0; }
  /// All that any fence has shown.
  const Shown& all() const { return all_; }
  /// The block has ended: from now on only all that the fences have shown is asked for.
  void end() { of_warps_ = {}; }
  /// The instruction of the latest fence; -1 if there is none.
  int latest() const { return latest_; }

 private:
  /// So many fences of a warp are told apart; of more, the oldest count as earlier than they were.
  static constexpr std::size_t kMostFences = 32;
  /// By warp, in order; each shows what the earlier ones have, too.
  std::vector<std::vector<Fence>> of_warps_;
  Shown all_;
  int latest_ = -1;
};

/// All fences between proxies of a block.
struct BlockProxyFences {
  Fences shared;                             ///< for asynchronous accesses to shared memory
  Fences global;                             ///< for those to global memory
  Fences releases;                           ///< of tensor maps
  std::map<std::uint64_t, Fences> acquires;  ///< of tensor maps, by address

  /// The block has ended. Of what is left other blocks want to know only what has been shown in global memory.
  void end() {
    shared = {};
    acquires.clear();
    global.end();
    releases.end();
  }
  bool empty() const { return shared.empty() && global.empty() && releases.empty() && acquires.empty(); }
};

}  // namespace convladder::simulated
