// racecheck: two threads touch the same memory in no defined order, at least one of them writing.
//
// Inside a block the order is kept as vector clocks of its warps. A barrier orders what its warps did before it and do
// after it; so do a release and the acquire of the same place that follows it (PTX ISA 9.0, 8.9), where a strong access
// after a fence releases, and one before a fence acquires. The lanes of a warp are ordered only by bar.warp.sync and
// these: that they run in lockstep here says nothing about a GPU since Volta. A lane releases what it did itself, and
// what the lanes did that have met it before, if only to exchange something (match.sync, elect.sync). Blocks of a
// cluster are ordered by its barrier; and whatever a block releases anywhere is taken to be ordered before all that its
// cluster does afterwards. For a block that copies into another one's shared memory, such a copy is in order once it
// has arrived there: who waits for it is the other block.
//
// Between blocks a place in global memory orders in the same way, by accesses and fences whose scope reaches beyond the
// block: what a warp releases there is in order for those who acquire there, and for all that learn of it from them. A
// fence counts for its warp and for whoever is ordered behind it: writers may each fence before a barrier, and one
// thread behind it raise the flag. (Where more than 256 warps of other blocks are known, whatever any block
// has released counts as acquired.)
//
// Strong accesses, such as atomics, do not race with one another if the scope of both reaches the other thread; neither
// does a load race with changes of the same place if the kernel then compares and swaps exactly there. A volatile load
// is strong where its value decides which way the kernel takes, as a flag does; where it is data it is a plain one.
//
// For every word the last write and two reads since then are kept; a race with an older access that these hide is found
// at another word or not at all.
//
// A copy (cp.async) may write from its beginning on. So nobody may read what it changes then, before somebody has
// waited for it.
//
// Products of matrices by four warps (wgmma) read shared memory until a warp of the four has waited for them. By then
// all that the four did before the product is done as well.
//
// Copies in bulk and products reach memory through a proxy of their own: what threads have read or written there before
// is done for them only with a fence.proxy.async in between (fences.hpp), and a tensor map that the kernel has
// written needs a release and an acquire of its own. (For data that cp.async has brought no fence is asked: nobody
// writes one there.) The other way round none is needed: it is part of waiting for the copy.
//
// Two lanes that store the same value to the same place in one instruction are in order. Four kinds of races have no
// effect, and are notes: equal values written twice, numbers that are equal but for their last bits, values in shared
// memory that nobody reads, and loads whose value nobody uses.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/checkers/fences.hpp"
#include "simulator/checkers/value_uses.hpp"
#include "simulator/checkers/warp_clocks.hpp"
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
  void copies_come(const WarpAccess& destination) override;
  void cluster_met(const Cluster& cluster) override;
  void barrier_passed(const BlockContext& block, std::uint32_t warps) override;
  void warp_synchronized(const WarpState& warp, LaneMask lanes) override;
  void lanes_met(const WarpState& warp, LaneMask lanes) override;
  void fenced(const WarpState& warp, const Operation& operation, bool for_other_blocks) override;
  void proxy_fenced(const WarpState& warp, const Operation& operation, const ProxyFence& fence) override;
  void copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                   std::uint64_t copy) override;
  void copy_repeats(const WarpState& warp, std::uint64_t copy, std::uint64_t first) override;
  void copy_arrives(const BlockContext& block, std::uint64_t copy, const BlockContext& owner,
                    std::uint64_t mbarrier) override;
  void copy_seen(const WarpState& warp, std::uint64_t copy, bool has_landed) override;
  void products_met(const BlockContext& block, std::uint32_t warps) override;
  void products_committed(const WarpState& warp) override;
  void products_waited_for(const WarpState& warp, std::uint32_t left) override;
  void arrives(const WarpState& warp, std::uint64_t mbarrier) override;
  void phase_ended(const BlockContext& block, std::uint64_t mbarrier) override;
  void phase_seen(const WarpState& warp, std::uint64_t mbarrier) override;
  /// Whether the host had no memory for what is known of some memory, so that races there are not found.
  bool is_blind() const { return is_blind_; }

 private:
  using Clocks = WarpClocks;

  /// One access of a thread. `clock` is its warp's clock; 0 means no access.
  struct Access {
    std::uint32_t block = 0;
    std::uint32_t clock : 31 = 0;
    std::uint32_t is_landing : 1 = 0;  ///< what a copy of a group writes: its thread may have waited for its reads only
    std::uint32_t instruction : 18 = 0;
    std::uint32_t is_disputed : 1 = 0;      ///< a write that raced with a write of another value: see disputes_
    std::uint32_t is_repeated : 1 = 0;      ///< a write that raced with one of the same value: see repeated_
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
  /// The units of 4096 bytes of memory, from the first access to them on: words, or bytes where an access of less than
  /// a word has come.
  struct Page {
    std::vector<Unit> units;
    bool has_bytes = false;
  };
  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<Page> pages;
  };

  /// An access of a lane to a unit.
  struct Touch {
    const WarpAccess& access;
    int lane = 0;
    std::uint64_t byte = 0;  ///< of the lane's access, where the unit begins
    std::uint64_t bytes = 0;
    Access now;
  };
  /// A race that shows no effect so far.
  struct Pending {
    FindingSite site;
    std::uint64_t block = 0;
    const Finding* finding = nullptr;  ///< in pending_findings_
  };
  /// A race of two writes.
  enum class WriteRace { none, equal, other };

  bool is_strong(const WarpAccess& access) const {
    return orders_[static_cast<std::size_t>(access.operation->instruction)] != MemoryOrder::weak;
  }
  void order(const WarpAccess& access, std::uint64_t address);
  Clocks released_by(const WarpState& warp, LaneMask lanes);
  Piece* find_piece(std::uint64_t address);
  std::size_t clock_index(const Access& access) const {
    const unsigned warp = access.thread / kLanes;
    if (access.is_asynchronous == 0) return warp;
    if (access.is_landing != 0) return Clocks::kFirstLanding + warp;
    return is_product_[access.instruction] ? Clocks::kFirstGroup + warp / kWarpsOfGroup : Clocks::kFirstCopy + warp;
  }
  inline bool ordered(const Access& earlier, const Access& now) const;
  bool is_before_all(const Access& earlier, const Access& now) const {
    const bool is_by_block = (earlier.block == now.block) | (earlier.clock == 0);
    return is_by_block & (earlier.clock <= before_) & (earlier.is_asynchronous == 0);
  }
  inline bool touch_in_order(Unit& unit, const Access& now, bool is_load) const;
  bool ordered_otherwise(const Access& earlier, const Access& now) const;
  bool ordered_in_cluster(const Access& earlier) const;
  Access access_of(const WarpAccess& access);
  void note_load(const WarpAccess& access);
  /// A part of a lane's access, and the units that it reaches.
  struct Part {
    Unit* units = nullptr;
    Access* coming = nullptr;  ///< of shared memory: those of the units, if there are any
    std::uint64_t byte = 0;    ///< of the access, where the part begins
    std::uint64_t bytes = 0;
    unsigned shift = 0;
  };
  void touch(const WarpAccess& access, int lane, const Access& now, const Part& part);
  void touch_unit(const Touch& touch, Unit& unit, Access* coming);
  void touch_global(const WarpAccess& access, int lane, const Access& now, Piece& piece);
  bool may_be_known(const AddressSpan& span) const;
  void split_words(Page& page);
  WriteRace write_again(const Touch& touch, const Unit& unit, Access& now);
  void judge_readers(const Touch& touch, const Unit& unit);
  void meet_coming(const Touch& touch, Access& coming);
  const Clocks& released_wide(const WarpAccess& access);
  void order_between_blocks(const WarpAccess& access, std::uint64_t address);
  bool is_released_to(const KnownReleases& known, const Access& earlier) const;
  bool are_strong(const Access& earlier, const Access& now) const;
  void note_release(std::uint32_t block, const Clocks& clocks);

  // In race_proxies.cpp: whether an access is there for another proxy.
  std::uint64_t time_of_release(const Access& earlier) const;
  const Shown& shown_before(const Fences& fences, const Touch& touch);
  bool is_shown(const Access& earlier, const Shown& shown, const Fences* of_its_block) const;
  void judge_proxies(const Touch& touch, const Unit& unit);
  void judge_map(const Touch& touch, const Unit& unit);
  void report_fence(const Touch& touch, const Access& earlier, const char* hazard, const char* fence, int other,
                    const std::string& why_note);

  // In race_effects.cpp: whether a race has an effect.
  void judge_read_after_write(const Touch& touch, const Unit& unit);
  WriteRace judge_write_after_write(const Touch& touch, const Unit& unit, Access& now);
  bool has_met_since(const Access& reader, const Touch& touch) const;
  void judge_write_after_read(const Touch& touch, const Access& reader, const Unit& unit);
  bool have_loaded_together(const Access& one, const Access& other) const;
  void report(const Touch& touch, const Access& earlier, const std::string& hazard, const std::string& why_note);
  Pending pending(const Touch& touch, const Access& earlier, const char* hazard, const std::string& why_note);
  void confirm(const Pending& race);
  Finding describe(const Touch& touch, const Access& earlier, const std::string& hazard) const;
  FindingSite site_of(const Touch& touch, const Access& earlier) const;
  std::string line_text(const Touch& touch, int instruction) const;
  const char* why_no_order(const Access& now, const Access& earlier) const;
  void settle(const Unit& unit, bool is_read);
  void store_late_values(const WarpAccess& access);
  void forget_shared(const std::vector<Unit>& units);
  bool ordered_with_equal(const Unit& unit, const Access& now) const;
  bool is_one_instruction(const Touch& touch, const Access& earlier) const;
  std::optional<std::uint64_t> written(const Touch& touch, int lane, std::uint64_t byte, std::uint64_t bytes);
  const std::optional<MemoryAccess>& parsed(int instruction);
  std::optional<std::uint64_t> present(const Touch& touch, std::uint64_t byte, std::uint64_t bytes) const;
  std::string nearly_equal(const Touch& touch, const Access& earlier);
  const ValueUses& uses_of(int load);

  const Program& program_;
  FindingLog& findings_;
  bool is_blind_ = false;            ///< the host had no memory for the units of some memory
  std::vector<std::byte> reserve_;   ///< memory that nobody touches, for the rest of the launch when that happens
  std::vector<MemoryOrder> orders_;  ///< by instruction
  std::vector<MemoryScope> scopes_;  ///< by instruction
  std::vector<bool> guesses_;        ///< by instruction: loads that a compare-and-swap checks
  std::vector<bool> is_data_;        ///< by instruction: volatile loads whose value decides nothing
  std::vector<bool> is_product_;     ///< by instruction: wgmma
  std::vector<bool> is_by_proxy_;    ///< by instruction: copies in bulk and products
  bool has_proxies_ = false;         ///< whether there is any of these
  unsigned shared_shift_;  ///< a unit of shared memory has 1 << shift bytes: 4, or 1 where a kernel uses narrower types
  std::map<std::uint64_t, Piece> pieces_;  // by beginning
  Piece* last_piece_ = nullptr;

  /// A warp's last execution of a load.
  struct Loaded {
    std::uint32_t block = 0;
    std::uint32_t clock = 0;
    bool again = false;  ///< the warp had executed it before at this clock
  };
  std::array<std::vector<Loaded>, kMostWarps> loaded_;  ///< by warp and instruction; empty before the warp's first load

  /// A load that raced with a write, whose value the lanes have not used.
  struct LateLoad {
    int load = 0;  ///< instruction
    int warp = 0;
    LaneMask lanes = 0;
    Pending race;
  };

  /// The lanes of a warp that met last, and the clock up to which they had done their work.
  struct Met {
    LaneMask lanes = 0;
    std::uint32_t clock = 0;
  };
  /// For each lane of a warp: the clock up to which each lane's accesses are ordered before.
  using OfLanes = std::array<std::array<std::uint32_t, kLanes>, kLanes>;

  /// The last answer to the question what the fences before an asynchronous access have shown.
  struct LastShown {
    const Fences* fences = nullptr;
    std::uint64_t events = 0;
    int warp = 0;
    int lane = 0;
    Shown shown;
  };
  /// Up to which clocks each warp of a block, its copies, and its copies to global memory had come at a release.
  using Reached = std::vector<std::uint32_t>;
  /// The releases of a warp to other blocks; of many only the last ones are told apart.
  struct WarpReleases {
    std::uint32_t first = 0;  ///< the number of the first one that is kept
    std::deque<Reached> reached;
  };
  /// A release of a block to others: what it had done by then.
  struct Release {
    std::uint64_t time = 0;
    Clocks clocks;
  };

  /// The state that belongs to one block.
  struct OfBlock {
    std::uint32_t number = 0;
    const Cluster* cluster = nullptr;
    std::vector<Unit> shared;
    std::vector<Access> coming;  ///< by unit of shared memory: a copy that is on its way there; empty before the first
    std::array<Clocks, kMostWarps> seen{};  ///< the clocks that each warp has seen
    std::array<std::uint32_t, Clocks::kCount> clock{};
    std::map<std::uint64_t, Clocks> copies;        ///< by number: the clocks that come with having seen the copy
    std::map<std::uint64_t, Clocks> released_at;   ///< by place; shared places are those in their window
    std::map<std::uint64_t, Clocks> ended_phases;  ///< by mbarrier: released by its arrivals up to its last phase's end
    std::array<Clocks, kMostWarps> fenced{};       ///< the clocks that each warp's strong writes release
    std::array<Clocks, kMostWarps> read{};         ///< the clocks that each warp's next fence acquires
    Clocks for_cluster{};                          ///< the clocks ordered before all that its cluster does from now on
    std::array<std::uint32_t, kMostWarps> committed{};  ///< groups of products, by warp
    /// By group of warps and number of a group of products: what the four have done before the last of them.
    std::map<std::pair<std::uint32_t, std::uint32_t>, Clocks> before_products;
    std::array<Met, kMostWarps> met{};
    std::map<int, OfLanes> of_lanes;  ///< by warp: of warps of which some lanes have met since all have
    Fences wide_fences;               ///< for threads of other blocks
    /// Releases of other blocks at places that each warp has read, which its next fence acquires.
    std::array<KnownReleases::Pointer, kMostWarps> read_of_others;
    std::vector<LateLoad> late_loads;
  };
  /// Makes this block the one that the next accesses belong to.
  void enter(const BlockContext& block);

  std::map<const BlockContext*, OfBlock> blocks_;  // blocks that run, some in turns
  const BlockContext* last_ = nullptr;
  OfBlock* now_ = nullptr;
  /// The clock up to which all accesses of the block's warps, without copies, are ordered before the current access.
  std::uint32_t before_ = 0;
  bool is_asynchronous_ = false;                          ///< whether the current accesses are a copy's
  bool is_foreign_ = false;                               ///< whether they are to another block's shared memory
  std::map<const Unit*, std::vector<Pending>> disputes_;  ///< of shared memory: writes of values that nobody has read
  std::map<const Unit*, std::vector<Access>> repeated_;   ///< the other writes of the value that a unit has
  std::map<FindingSite, Finding> pending_findings_;
  std::map<int, ValueUses> uses_;                             ///< by load
  std::map<int, std::optional<MemoryAccess>> parsed_;         ///< by instruction
  std::map<int, bool> are_floats_;                            ///< by store: what it stores
  std::map<std::uint32_t, Reached> released_;                 ///< by block: by anything that it has released to others
  std::map<std::uint64_t, WarpReleases> releases_of_warps_;   ///< by block * kMostWarps + warp
  std::map<std::uint64_t, KnownReleases::Pointer> known_at_;  ///< by place in global memory
  std::optional<Clocks> wide_;      ///< what the current access releases to other blocks, once it is known
  KnownReleases::Pointer release_;  ///< that release, and what its warp knows of others
  std::map<std::uint32_t, BlockProxyFences> fences_;       ///< by block
  std::map<std::uint32_t, std::deque<Release>> releases_;  ///< by block, in order; of kernels with proxies
  std::uint64_t time_ = 0;                                 ///< releases to other blocks, and fences between proxies
  std::uint64_t events_ = 0;                               ///< changes of what any warp has seen, and fences
  LastShown last_shown_;
};

inline bool RaceChecker::ordered(const Access& earlier, const Access& now) const {
  if (earlier.clock == 0) return true;
  if (earlier.block == now.block) {
    if (earlier.thread == now.thread && earlier.is_asynchronous == 0) return true;
    if (earlier.clock <= now_->seen[now.thread / kLanes].to[clock_index(earlier)]) return true;
  }
  return ordered_otherwise(earlier, now);
}

}  // namespace convladder::simulated
