// The order in which the work of a launch goes on, as one seed decides it: which block and which warp is next, where a
// warp is interrupted, which lanes of a store come first, and when an asynchronous copy takes effect.
//
// Every order is one that a GPU may take, as far as memory is the same for all at every moment: what threads do goes on
// one after the other, and nobody sees old values. A seed always decides the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/memory/warp_access.hpp"

namespace convladder::simulated {

/// The size of a launch, from which places of interruptions are drawn.
struct ScheduledWork {
  std::uint64_t points = 0;  ///< the times at which a warp does something that others may see
  std::uint64_t blocks = 1;
  unsigned warps = 1;  ///< of a block
};

/// The number of orders in which one warp is interrupted once and the others then go on; 0: too many to try them all.
std::uint64_t orders_with_one_interruption(const ScheduledWork& work);

/// Whether other threads may see what an instruction does, or it what they do.
bool is_seen_by_others(std::string_view opcode);
/// Whether the lanes of an instruction write each for itself, in an order that is not defined.
bool stores_lane_by_lane(std::string_view opcode);

class Schedule {
 public:
  /// The usual order, in which nothing is interrupted; it counts the points.
  Schedule() = default;
  /// The order of a seed; 0 is the usual one. With few points every other seed is one of the orders with one
  /// interruption: `seed` / 2 says which.
  Schedule(std::uint64_t seed, const ScheduledWork& work);

  // --- blocks -------------------------------------------------------------------------------------------------------

  /// How many clusters are open at a time, if none waits for those that have not begun.
  std::uint64_t open_at_a_time() const { return open_at_a_time_; }
  /// Brings clusters that begin together into their order.
  void order(std::span<std::uint64_t> clusters);
  /// Which of `count` clusters, or of the blocks of one, goes on next. They are given in the order in which they were
  /// left, those that have not begun to run first.
  std::size_t next_of(std::size_t count);
  /// The number of turns of its warps after which a block that goes on is left.
  std::uint32_t turns();
  /// Whether the block is left now.
  bool leaves_block() const { return leaves_; }

  // --- warps --------------------------------------------------------------------------------------------------------

  /// Which of the warps has the next turn: an index into `warps`, their numbers in the block, ascending.
  std::size_t next_warp(std::uint64_t block, std::span<const int> warps);
  /// A warp's turn has ended. `by_itself`: at a barrier, at its end or in a loop that waits.
  void turn_ended(std::uint64_t block, int warp, bool by_itself);
  /// Whether the warp is interrupted before it does something that others may see.
  bool interrupts(std::uint64_t block, int warp);
  /// Whether another path of the interrupted warp goes on next.
  bool takes_other_path();
  /// The lanes of a store that come before the others; all of them: they are not told apart.
  LaneMask first_of(LaneMask lanes);

  // --- asynchronous copies ------------------------------------------------------------------------------------------

  /// Whether a copy that begins takes effect at once.
  bool lands_at_once() { return chance(early_); }
  /// Whether a copy in bulk reads its source when it takes effect, not when it begins.
  bool reads_late() { return chance(late_); }
  /// Whether one of the copies on their way lands between two turns.
  bool lands_between_turns() { return chance(between_); }
  /// Whether a copy is still on its way when somebody looks whether it has come.
  bool is_still_on_its_way() { return chance(late_); }
  std::size_t which_of(std::size_t count) { return count < 2 ? 0 : static_cast<std::size_t>(random() % count); }

  std::uint64_t points() const { return points_; }
  bool is_usual() const { return way_ == Way::usual; }

  /// From now on floating-point sums of atomics are sums of the bits: no numbers, but the same in any order. Two orders
  /// whose results are then equal differ by the rounding of such sums only.
  void add_bits() { adds_bits_ = true; }
  bool adds_bits() const { return adds_bits_; }

 private:
  enum class Way {
    usual,            ///< warps have turns in their order, as without a schedule
    reversed,         ///< the last warp and the last block first
    turns,            ///< any warp, to the end of its turn
    interruptions,    ///< any warp, interrupted at any time
    priorities,       ///< the warp of the highest priority, which falls at some points (Burckhardt et al., ASPLOS 2010)
    one_interruption  ///< as usual, but for one interruption
  };

  std::uint64_t random();
  bool chance(unsigned of_256) { return of_256 != 0 && random() % 256 < of_256; }
  std::int64_t priority(std::uint64_t block, int warp) const;
  void draw_quantum();

  Way way_ = Way::usual;
  std::uint64_t seed_ = 0;
  std::uint64_t state_ = 0;
  std::uint64_t open_at_a_time_ = 1;
  std::uint64_t points_ = 0;
  unsigned early_ = 0;  // of 256
  unsigned between_ = 0;
  unsigned late_ = 0;
  unsigned apart_ = 0;                                            // how often the lanes of a store are told apart
  unsigned often_ = 0;                                            // how often a turn is short
  std::uint64_t quantum_ = ~0ULL;                                 // points until the warp is interrupted
  std::vector<std::uint64_t> falls_;                              // points at which a priority falls, ascending
  std::map<std::pair<std::uint64_t, int>, std::int64_t> fallen_;  // by block and warp: negative priorities
  std::int64_t lowest_ = 0;
  std::uint64_t interrupted_at_ = ~0ULL;
  unsigned goes_to_ = 0;  // after the one interruption: so many warps further; the last number: another block
  unsigned warps_ = 1;
  bool just_interrupted_ = false;
  bool leaves_ = false;
  bool adds_bits_ = false;
  std::uint64_t last_block_ = ~0ULL;
  int last_warp_ = -1;
};

/// Whether it decides anything.
inline bool chooses(const Schedule* schedule) { return schedule != nullptr && !schedule->is_usual(); }

}  // namespace convladder::simulated
