// The paths of the lanes of a warp: where they part, where they wait for each other, and where they meet again.
//
// Paths are a stack. Lanes that part leave a path behind that holds all of them and waits where they meet; above it
// is a path for each way. So the lanes of two paths are either disjoint, or one path holds all lanes of the other and
// waits for them. A path runs if no other waits for it and it holds no other. Warps before Volta worked like this;
// independent thread scheduling added that a path may wait for lanes of other paths, which run meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulator/state/operation.hpp"

namespace convladder::simulated {

enum class PathState : std::uint32_t {
  runs,
  waits,    ///< for lanes of other paths, at `next`
  goes_on,  ///< has waited, and now carries out `next`
};

struct Path {
  int reconvergence = 0;  ///< the operation at which its lanes meet others
  int next = 0;           ///< operation
  LaneMask mask = 0;
  PathState state = PathState::runs;
  LaneMask elsewhere = 0;  ///< for `goes_on`: lanes that go on at a corresponding operation
  int frame = 0;           ///< the frame of the call that it is in; see CallFrames
  int parted_at = -1;      ///< the branch of lanes that wait for others where they meet
};

class WarpPaths {
 public:
  /// Starts with all lanes at the first operation; `end` is the number of operations.
  void begin(int end, LaneMask lanes);

  bool empty() const { return paths_.empty(); }
  /// The path that runs.
  Path& current() { return paths_.back(); }
  const Path& current() const { return paths_.back(); }
  std::span<const Path> all() const { return paths_; }

  /// Drops finished paths: lanes that have met others belong to the others' path. The lowest `kept` paths stay.
  void drop_finished(std::size_t kept = 0) {
    while (paths_.size() > kept && (paths_.back().mask == 0 || paths_.back().next == paths_.back().reconvergence)) {
      paths_.pop_back();
    }
  }
  /// The lanes of the current path part at `branch`: `taken` go on at `target` and run first, the others go on after
  /// the branch. They meet at `meet`.
  void part(int branch, int meet, int target, LaneMask taken);
  /// `staying` lanes of the current path go on at `next`, the others at `aside`, from where no way leads back to them:
  /// they run later, together with lanes that go there meanwhile. `comes_to(operation)` says whether a way leads from
  /// there to where a path waits.
  template <typename ComesTo>
  void part_aside(int next, LaneMask staying, int aside, const ComesTo& comes_to) {
    Path& path = current();
    const LaneMask leaving = path.mask & ~staying;
    path.mask = staying;
    path.next = next;
    std::size_t above = paths_.size() - 1;  // the lowest path that does not hold them
    const auto holds_them = [&](const Path& other) {
      return (other.mask & leaving) != 0 && (other.frame != path.frame || comes_to(other.next));
    };
    while (above > 0 && !holds_them(paths_[above - 1])) --above;
    leave(above, leaving, aside);
  }
  /// The lanes of the current path part: the lanes of each pair go on at its operation. They meet at `meet`, or, with
  /// `for_good`, where the current path meets others.
  void part_many(int branch, int meet, bool for_good, std::span<const std::pair<int, LaneMask>> ways);
  /// Lanes end their execution.
  void exit(LaneMask leaving);
  /// Lanes of the current path call a function: they go on at its first operation, and later after the current path's
  /// call.
  void call(int first, LaneMask lanes, int frame);
  /// Lanes return from the call that the current path is in.
  void return_from_call(LaneMask leaving);

  /// Some lanes of the current path wait at the operation `at`; the others go on after it.
  void wait(int at, LaneMask lanes);
  /// The lanes that wait at an operation of a call.
  LaneMask waiting_at(int at, int frame) const;
  bool any_waits() const;
  /// Makes one path, which goes on, of the paths that wait at an operation. Returns how many there were.
  int go_on_together(int at, int frame);
  /// The path that stands at an operation of a call and goes on does so behind it.
  void go_behind(int at, int frame);
  /// Makes a path that does not wait the current one, a different one if there is any; false if all wait.
  bool run_another();
  /// Lanes that have met, and wait there for others that have not, go on without them as the current path. False if
  /// there are none.
  bool release_met();

 private:
  /// Whether a path above holds lanes of this one.
  bool holds_others(std::size_t path) const { return (lanes_above(path) & paths_[path].mask) != 0; }
  LaneMask lanes_above(std::size_t path) const;
  void leave(std::size_t above, LaneMask leaving, int aside);
  void make_current(std::size_t path);

  std::vector<Path> paths_;
  int end_ = 0;
};

}  // namespace convladder::simulated
