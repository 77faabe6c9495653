// racecheck: two threads touch the same memory in no defined order, at least one of them writing.
//
// Inside a block the order is kept as vector clocks of its warps. A barrier orders what its warps did before it and do
// after it; so do a release and the acquire of the same place that follows it (PTX ISA 9.0, 8.9), where a strong access
// after a fence releases, and one before a fence acquires. The lanes of a warp are ordered only by bar.warp.sync and
// these: that they run in lockstep here says nothing about a GPU since Volta. Blocks of a cluster are ordered by its
// barrier; and whatever a block releases anywhere is taken to be ordered before all that its cluster does afterwards.
// Accesses of other blocks are never ordered, with one exception: a block that has released anything in global memory
// has released its writes to the blocks that do a strong access there themselves (the "last block" idiom). Strong
// accesses, such as atomics, do not race with one another; neither does a load race with changes of the same place if
// the kernel then compares and swaps exactly there.
//
// For every word the last write and two reads since then are kept; a race with an older access that these hide is found
// at another word or not at all. Two lanes that store the same value to the same place in one instruction are no
// finding.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "simulator/instructions/memory/memory_access.hpp"
#include "simulator/state/access_observer.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/cluster.hpp"
#include "simulator/state/finding_log.hpp"

namespace convladder::simulated {

class RaceChecker final : public AccessObserver {
 public:
  /// Global memory is checked in these allocations (given by their beginnings); the launch only reads the others.
  RaceChecker(const Program& program, const std::set<std::uint64_t>& written_allocations, FindingLog& findings);

  void block_begins(const BlockContext& block) override;
  void access(const WarpAccess& access) override;
  void cluster_met(const Cluster& cluster) override;
  void barrier_passed(const BlockContext& block, std::uint32_t warps) override;
  void warp_synchronized(const WarpState& warp, LaneMask lanes) override;
  void fenced(const WarpState& warp, bool for_other_blocks) override;
  void copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                   std::uint64_t copy) override;
  void copy_arrives(const BlockContext& block, std::uint64_t copy, const BlockContext& owner,
                    std::uint64_t mbarrier) override;
  void copy_seen(const WarpState& warp, std::uint64_t copy) override;
  void arrives(const WarpState& warp, std::uint64_t mbarrier) override;
  void phase_ended(const BlockContext& block, std::uint64_t mbarrier) override;
  void phase_seen(const WarpState& warp, std::uint64_t mbarrier) override;

 private:
  static constexpr int kMostWarps = 32;
  /// For each warp, and then for each warp's copies: the clock up to which its accesses are ordered before. A warp's
  /// barriers say nothing about its copies.
  using Clocks = std::array<std::uint32_t, 2 * kMostWarps>;
  static void join(Clocks& clocks, const Clocks& other);

  /// One access of a thread. `clock` is its warp's clock; 0 means no access.
  struct Access {
    std::uint32_t block = 0;
    std::uint32_t clock = 0;
    std::uint32_t instruction : 20 = 0;
    std::uint32_t is_asynchronous : 1 = 0;  ///< made by a copy: the thread that began it must wait as well
    std::uint32_t is_strong : 1 = 0;
    std::uint32_t thread : 10 = 0;
  };
  /// The accesses known of one unit of memory.
  struct Unit {
    Access writer;
    Access first_reader;
    Access last_reader;
  };
  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<Unit> units;
  };

  bool is_strong(const WarpAccess& access) const {
    return orders_[static_cast<std::size_t>(access.operation->instruction)] != MemoryOrder::weak;
  }
  void order(const WarpAccess& access, std::uint64_t address);
  Clocks released_by(int warp);
  Piece* find_piece(std::uint64_t address);
  static std::size_t clock_index(const Access& access) {
    return access.thread / kLanes + (access.is_asynchronous != 0 ? kMostWarps : 0);
  }
  bool ordered(const Access& earlier, const Access& now) const;
  bool ordered_in_cluster(const Access& earlier) const;
  void check(const WarpAccess& access, int lane, const Access& earlier, const Access& now, bool earlier_wrote);
  void touch(const WarpAccess& access, int lane, std::uint64_t offset, std::vector<Unit>& units);
  bool stores_same_value(const WarpAccess& access, int lane, int other_lane) const;

  const Program& program_;
  FindingLog& findings_;
  std::vector<MemoryOrder> orders_;  ///< by instruction
  std::vector<bool> guesses_;        ///< by instruction: loads that a compare-and-swap checks
  unsigned shared_shift_;  ///< a unit of shared memory has 1 << shift bytes: 4, or 1 where a kernel uses narrower types
  unsigned global_shift_;
  std::map<std::uint64_t, Piece> pieces_;  // by beginning
  Piece* last_piece_ = nullptr;

  /// The state that belongs to one block.
  struct OfBlock {
    std::uint32_t number = 0;
    const Cluster* cluster = nullptr;
    std::vector<Unit> shared;
    std::array<Clocks, kMostWarps> seen{};  ///< the clocks that each warp has seen
    Clocks clock{};
    std::map<std::uint64_t, Clocks> copies;        ///< by number: the clocks that come with having seen the copy
    std::map<std::uint64_t, Clocks> released_at;   ///< by place; shared places are those in their window
    std::map<std::uint64_t, Clocks> ended_phases;  ///< by mbarrier: released by its arrivals up to its last phase's end
    std::array<Clocks, kMostWarps> fenced{};       ///< the clocks that each warp's strong writes release
    std::array<Clocks, kMostWarps> read{};         ///< the clocks that each warp's next fence acquires
    Clocks for_cluster{};                          ///< the clocks ordered before all that its cluster does from now on
    bool has_fenced = false;
    bool has_acquired = false;  ///< has done a strong access in global memory
  };
  /// Makes this block the one that the next accesses belong to.
  void enter(const BlockContext& block);

  std::map<const BlockContext*, OfBlock> blocks_;  // blocks that run, some in turns
  const BlockContext* last_ = nullptr;
  OfBlock* now_ = nullptr;
  bool is_asynchronous_ = false;      ///< whether the current accesses are a copy's
  std::set<std::uint32_t> released_;  ///< blocks whose writes are ordered before those of blocks that acquire
};

}  // namespace convladder::simulated
