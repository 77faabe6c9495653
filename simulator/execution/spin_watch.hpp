// Tells who waits for what others have to do from who works.
//
// A warp whose registers and place repeat while no memory changes will repeat them for ever, unless another warp
// changes memory, or lanes that go another way do. So will a block of which everything repeats, unless another block
// changes memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convladder::simulated {

/// Compares states with one from before, which is taken anew after 1, 2, 4, 8, … states (Brent, "An improved Monte
/// Carlo factorization algorithm", 1980), so that a period of any length is found.
class Repetition {
 public:
  /// The pieces of memory that make up a state; `memory_changes` grows whenever memory beside them changes.
  void add(std::span<const std::span<const std::byte>> pieces, std::uint64_t memory_changes);
  void forget() {
    states_ = 0;
    found_ = false;
  }
  /// Whether the state that was added last had been there, and memory has not changed between or since.
  bool found(std::uint64_t memory_changes) const { return found_ && memory_changes == memory_changes_; }

 private:
  std::uint64_t states_ = 0;
  std::vector<std::byte> before_;
  std::uint64_t memory_changes_ = 0;
  bool found_ = false;
};

class SpinWatch {
 public:
  /// After this many backward branches without a barrier a warp's turn ends.
  static constexpr std::uint32_t kBranchesPerTurn = 65536;
  /// After this many its state is looked at. A turn in which it repeats ends at once.
  static constexpr std::uint32_t kBranchesPerLook = 64;

  struct State {
    std::span<const std::byte> registers;
    std::span<const std::byte> place;
    std::uint64_t memory_changes = 0;  ///< grows whenever the block changes memory
  };

  /// Counts a branch backwards; returns whether the state is to be looked at.
  bool branch_backwards() { return ++branches_ % kBranchesPerLook == 0; }
  /// Whether the turn ends in this state; `at_once`, of a warp that waits, in any.
  bool turn_ends(const State& state, bool at_once);

  /// The warp met others at a barrier or a block begins: what was seen no longer counts.
  void forget() {
    branches_ = 0;
    in_turn_.forget();
    over_turns_.forget();
  }

  /// Whether the turn before ended in a state in which one before it ended, and memory has not changed between or
  /// since.
  bool waits(std::uint64_t memory_changes) const { return over_turns_.found(memory_changes); }

 private:
  std::uint32_t branches_ = 0;
  Repetition in_turn_;     // of the lanes that run
  Repetition over_turns_;  // of all lanes of the warp, which run in turn
};

}  // namespace convladder::simulated
