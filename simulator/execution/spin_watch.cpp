#include "simulator/execution/spin_watch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace convladder::simulated {
namespace {

bool is_same(const std::byte* before, std::span<const std::byte> piece) {
  return piece.empty() || std::memcmp(before, piece.data(), piece.size()) == 0;
}

}  // namespace

void Repetition::add(std::span<const std::span<const std::byte>> pieces, std::uint64_t memory_changes) {
  ++states_;
  std::span<const std::byte> before(before_);
  const auto same = [&before](std::span<const std::byte> piece) {
    if (before.size() < piece.size() || !is_same(before.data(), piece)) return false;
    before = before.subspan(piece.size());
    return true;
  };
  found_ = states_ > 1 && memory_changes == memory_changes_ && std::ranges::all_of(pieces, same) && before.empty();
  if (found_ || (!std::has_single_bit(states_) && memory_changes == memory_changes_)) return;
  before_.clear();
  for (const std::span<const std::byte> piece : pieces) before_.insert(before_.end(), piece.begin(), piece.end());
  memory_changes_ = memory_changes;
}

bool SpinWatch::turn_ends(const State& state, bool at_once) {
  const std::array pieces{state.registers, state.place};
  in_turn_.add(pieces, state.memory_changes);
  if (!at_once && branches_ < kBranchesPerTurn && !in_turn_.found(state.memory_changes)) return false;
  branches_ = 0;
  in_turn_.forget();
  over_turns_.add(pieces, state.memory_changes);
  return true;
}

}  // namespace convladder::simulated
