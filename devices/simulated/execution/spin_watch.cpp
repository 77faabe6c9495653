#include "devices/simulated/execution/spin_watch.hpp"

#include <algorithm>
#include <bit>

namespace convladder::simulated {

void SpinWatch::end_turn(std::span<const std::byte> registers, std::span<const std::byte> place,
                         std::uint64_t memory_changes) {
  branches_ = 0;
  ++turns_;
  const auto same = [](std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); };
  const std::span<const std::byte> before(state_);
  repeats_ = turns_ > 1 && memory_changes == memory_changes_ && before.size() == registers.size() + place.size() &&
             same(before.first(registers.size()), registers) && same(before.subspan(registers.size()), place);
  if (repeats_ || (std::has_single_bit(turns_) == false && memory_changes == memory_changes_)) return;
  state_.assign(registers.begin(), registers.end());
  state_.insert(state_.end(), place.begin(), place.end());
  memory_changes_ = memory_changes;
}

}  // namespace convladder::simulated
