// Distinguishes warps and blocks that wait for others from those that work.
//
// A warp whose registers and place repeat while no memory changes will repeat them for ever, unless another warp or
// lanes on another path change memory. A block all of whose state repeats will do so as well, unless another block
// changes memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convladder::simulated {

/// Compares states with an earlier one, which is replaced after 1, 2, 4, 8, … states (Brent, "An improved Monte Carlo
/// factorization algorithm", 1980), so that a period of any length is found.
class Repetition {
 public:
  /// Adds a state, made up of these pieces of memory; `memory_changes` grows whenever other memory changes.
  void add(std::span<const std::span<const std::byte>> pieces, std::uint64_t memory_changes);
  void forget() {
    states_ = 0;
    found_ = false;
  }
  /// Whether the state added last had occurred before, and memory has not changed in between or since.
  bool found(std::uint64_t memory_changes) const { return found_ && memory_changes == memory_changes_; }

 private:
  std::uint64_t states_ = 0;
  std::vector<std::byte> before_;
  std::uint64_t memory_changes_ = 0;
  bool found_ = false;
};

class SpinWatch {
 public:
  /// A warp's turn ends after this many backward branches without a barrier.
  static constexpr std::uint32_t kBranchesPerTurn = 65536;
  /// A warp's state is examined after this many. A turn in which it repeats ends at once.
  static constexpr std::uint32_t kBranchesPerLook = 64;

  struct State {
    std::span<const std::byte> registers;
    std::span<const std::byte> place;
    std::uint64_t memory_changes = 0;  ///< grows whenever the block changes memory
  };

  /// Counts a backward branch; returns whether the state is to be examined.
  bool branch_backwards() { return ++branches_ % kBranchesPerLook == 0; }
  /// Whether the turn ends in this state; with `at_once`, for a warp that waits, it ends in any state.
  bool turn_ends(const State& state, bool at_once);

  /// Forgets earlier states: the warp met others at a barrier, or a block begins.
  void forget() {
    branches_ = 0;
    in_turn_.forget();
    over_turns_.forget();
  }

  /// Whether the last turn ended in the same state as an earlier one, and memory has not changed in between or since.
  bool waits(std::uint64_t memory_changes) const { return over_turns_.found(memory_changes); }

 private:
  std::uint32_t branches_ = 0;
  Repetition in_turn_;     // states of the lanes that run
  Repetition over_turns_;  // states of all lanes of the warp, which run in turn
};

}  // namespace convladder::simulated
