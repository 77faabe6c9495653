// Tells a warp that waits for what never comes from one that works.
//
// A warp whose registers and place repeat while no memory changes will repeat them for ever, unless another warp
// changes memory. Its states are compared with one from before, which is taken anew after 1, 2, 4, 8, … turns (Brent,
// "An improved Monte Carlo factorization algorithm", 1980), so that a period of any length is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convladder::simulated {

class SpinWatch {
 public:
  /// After this many backward branches without a barrier a warp's turn ends and its state is checked.
  static constexpr std::uint32_t kBranchesPerTurn = 65536;

  /// Counts a branch backwards; returns whether the turn ends.
  bool branch_backwards() { return ++branches_ >= kBranchesPerTurn; }

  /// The warp met others at a barrier or a block begins: what was seen no longer counts.
  void forget() {
    branches_ = 0;
    turns_ = 0;
    repeats_ = false;
  }

  /// A turn ends in this state. `memory_changes` grows whenever the block changes memory.
  void end_turn(std::span<const std::byte> registers, std::span<const std::byte> place, std::uint64_t memory_changes);

  /// Whether the turn before ended in a state that was there before, and memory has not changed between or since.
  bool waits(std::uint64_t memory_changes) const { return repeats_ && memory_changes == memory_changes_; }

 private:
  std::uint32_t branches_ = 0;
  std::uint64_t turns_ = 0;
  std::vector<std::byte> state_;  // from before
  std::uint64_t memory_changes_ = 0;
  bool repeats_ = false;
};

}  // namespace convladder::simulated
