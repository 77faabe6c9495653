#include "simulator/execution/warp_paths.hpp"

#include <algorithm>
#include <cstddef>

namespace convladder::simulated {

void WarpPaths::begin(int end, LaneMask lanes) {
  end_ = end;
  paths_.assign(1, {.reconvergence = end, .next = 0, .mask = lanes});
}

void WarpPaths::part(int branch, int meet, int target, LaneMask taken) {
  const LaneMask others = current().mask & ~taken;
  current().next = meet;
  current().parted_at = branch;
  const int frame = current().frame;
  paths_.push_back({.reconvergence = meet, .next = branch + 1, .mask = others, .frame = frame});
  paths_.push_back({.reconvergence = meet, .next = target, .mask = taken, .frame = frame});
}

void WarpPaths::part_many(int branch, int meet, bool for_good, std::span<const std::pair<int, LaneMask>> ways) {
  const Path whole = current();
  if (for_good) {
    paths_.pop_back();
  } else {
    current().next = meet;
    current().parted_at = branch;
  }
  for (const auto& [next, lanes] : ways) {
    paths_.push_back(
        {.reconvergence = for_good ? whole.reconvergence : meet, .next = next, .mask = lanes, .frame = whole.frame});
  }
}

void WarpPaths::call(int first, LaneMask lanes, int frame) {
  paths_.push_back({.reconvergence = end_, .next = first, .mask = lanes, .frame = frame});
}

void WarpPaths::return_from_call(LaneMask leaving) {
  const int frame = current().frame;
  for (Path& path : paths_) {
    if (path.frame == frame) path.mask &= ~leaving;
  }
}

/// Removes lanes from the paths from `above` on; they wait below these paths for their turn.
void WarpPaths::leave(std::size_t above, LaneMask leaving, int aside) {
  int meet = end_;
  const int frame = current().frame;
  for (std::size_t i = paths_.size(); i-- > above;) {
    if (i + 1 == paths_.size() || (paths_[i].mask & leaving) != 0) meet = paths_[i].reconvergence;
    paths_[i].mask &= ~leaving;
  }
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    Path& other = paths_[i];
    const bool is_there =
        other.next == aside && other.reconvergence == meet && other.frame == frame && other.state == PathState::runs;
    if (!is_there || other.mask == 0 || holds_others(i)) continue;
    other.mask |= leaving;
    return;
  }
  paths_.insert(paths_.begin() + static_cast<std::ptrdiff_t>(above),
                {.reconvergence = meet, .next = aside, .mask = leaving, .frame = frame});
}

void WarpPaths::exit(LaneMask leaving) {
  for (Path& path : paths_) path.mask &= ~leaving;
}

void WarpPaths::wait(int at, LaneMask lanes) {
  Path& path = current();
  if (lanes == path.mask) {
    path.next = at;
    path.state = PathState::waits;
    return;
  }
  path.mask &= ~lanes;
  path.next = at + 1;
  paths_.push_back(
      {.reconvergence = path.reconvergence, .next = at, .mask = lanes, .state = PathState::waits, .frame = path.frame});
}

LaneMask WarpPaths::waiting_at(int at, int frame) const {
  LaneMask lanes = 0;
  for (const Path& path : paths_) {
    if (path.state == PathState::waits && path.next == at && path.frame == frame) lanes |= path.mask;
  }
  return lanes;
}

bool WarpPaths::any_waits() const {
  return std::ranges::any_of(paths_, [](const Path& path) { return path.state == PathState::waits && path.mask != 0; });
}

int WarpPaths::go_on_together(int at, int frame) {
  const auto is_one = [at, frame](const Path& path) {
    return path.state == PathState::waits && path.next == at && path.frame == frame;
  };
  const auto count = static_cast<int>(std::ranges::count_if(paths_, is_one));
  if (count == 1) {
    make_current(static_cast<std::size_t>(std::ranges::find_if(paths_, is_one) - paths_.begin()));
    current().state = PathState::goes_on;
    return count;
  }
  const LaneMask lanes = waiting_at(at, frame);
  std::erase_if(paths_, is_one);
  // The lanes meet others where the innermost path waits that holds all of them; paths that hold only some lose them.
  int meet = end_;
  for (std::size_t i = paths_.size(); i-- > 0;) {
    if ((paths_[i].mask & lanes) == lanes) {
      if (paths_[i].frame == frame) meet = paths_[i].next;
      break;
    }
    paths_[i].mask &= ~lanes;
  }
  paths_.push_back({.reconvergence = meet, .next = at, .mask = lanes, .state = PathState::goes_on, .frame = frame});
  return count;
}

void WarpPaths::go_behind(int at, int frame) {
  for (Path& path : paths_) {
    if (path.state != PathState::goes_on || path.next != at || path.frame != frame) continue;
    path.next = at + 1;
    path.state = PathState::runs;
    path.elsewhere = 0;
  }
}

bool WarpPaths::run_another() {
  std::erase_if(paths_, [](const Path& path) { return path.mask == 0; });
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i].state == PathState::waits || holds_others(i)) continue;
    make_current(i);
    return true;
  }
  return false;
}

bool WarpPaths::release_met() {
  for (std::size_t i = paths_.size(); i-- > 0;) {
    Path& path = paths_[i];
    const LaneMask above = lanes_above(i);
    const LaneMask met = path.mask & ~above;
    if (met == 0 || met == path.mask) continue;  // nobody has met, or the path waits for nobody
    path.mask &= above;
    paths_.push_back({.reconvergence = path.reconvergence,
                      .next = path.next,
                      .mask = met,
                      .frame = path.frame,
                      .parted_at = path.parted_at});
    return true;
  }
  return false;
}

LaneMask WarpPaths::lanes_above(std::size_t path) const {
  LaneMask lanes = 0;
  for (std::size_t i = path + 1; i < paths_.size(); ++i) lanes |= paths_[i].mask;
  return lanes;
}

/// Makes a path current: paths below it hold it or are separate from it, and stay below.
void WarpPaths::make_current(std::size_t path) {
  const auto at = paths_.begin() + static_cast<std::ptrdiff_t>(path);
  std::rotate(at, at + 1, paths_.end());
}

}  // namespace convladder::simulated
