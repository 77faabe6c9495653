#include "simulator/checkers/fences.hpp"

#include <algorithm>

namespace convladder::simulated {

void Fences::add(int warp, const Fence& fence) {
  of_warps_.resize(kMostWarps);
  std::vector<Fence>& fences = of_warps_.at(static_cast<std::size_t>(warp));
  fences.push_back(fence);
  if (fences.size() > 1) fences.back().shown.clocks.join(fences[fences.size() - 2].shown.clocks);
  all_.clocks.join(fence.shown.clocks);
  all_.time = fence.shown.time;
  latest_ = fence.instruction;
  if (fences.size() <= kMostFences) return;
  fences[1].clock = fences[0].clock;
  fences[1].lanes |= fences[0].lanes;
  fences.erase(fences.begin());
}

Shown Fences::before(const FencePoint& point) const {
  Shown shown;
  for (int w = 0; w < static_cast<int>(of_warps_.size()); ++w) {
    const std::vector<Fence>& fences = of_warps_[static_cast<std::size_t>(w)];
    const auto is_before = [&](const Fence& fence) {
      const bool is_own = w == point.warp && (fence.lanes & point.lanes) != 0;
      return is_own || point.seen.has(static_cast<std::size_t>(w), fence.lanes, fence.clock);
    };
    const auto last = std::find_if(fences.rbegin(), fences.rend(), is_before);
    if (last == fences.rend()) continue;
    shown.clocks.join(last->shown.clocks);
    shown.time = std::max(shown.time, last->shown.time);
  }
  return shown;
}

}  // namespace convladder::simulated
