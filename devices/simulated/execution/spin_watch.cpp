#include "devices/simulated/execution/spin_watch.hpp"

#include <algorithm>
#include <bit>

namespace convladder::simulated {

bool SpinWatch::turn_ends(const State& state, bool at_once) {
  in_turn_.add(state);
  if (!at_once && branches_ < kBranchesPerTurn && !in_turn_.found(state.memory_changes)) return false;
  branches_ = 0;
  in_turn_.forget();
  over_turns_.add(state);
  return true;
}

void SpinWatch::Repetition::add(const State& state) {
  ++states_;
  const std::span<const std::byte> before(before_);
  const auto [registers, place, memory_changes] = state;
  found_ = states_ > 1 && memory_changes == memory_changes_ && before.size() == registers.size() + place.size() &&
           std::ranges::equal(before.first(registers.size()), registers) &&
           std::ranges::equal(before.subspan(registers.size()), place);
  if (found_ || (!std::has_single_bit(states_) && memory_changes == memory_changes_)) return;
  before_.assign(registers.begin(), registers.end());
  before_.insert(before_.end(), place.begin(), place.end());
  memory_changes_ = memory_changes;
}

}  // namespace convladder::simulated
