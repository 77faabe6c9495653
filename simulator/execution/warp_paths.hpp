// The ways that the lanes of a warp go: where they part, where they wait for each other, and where they meet again.
//
// Paths are a stack. Lanes that part leave a path behind them that holds all of them and waits where they meet; above
// it is a path for each way. So the lanes of two paths are either disjoint, or one path holds all lanes of the other
// and waits for them. A path that no other waits for, and that holds no other, runs. That is how a warp before Volta
// went; what came with independent thread scheduling is that a path may wait for lanes of other paths, which run
// meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulator/state/operation.hpp"

namespace convladder::simulated {

enum class PathState : std::uint32_t {
  runs,
  waits,    ///< at `next`, for lanes of other paths
  goes_on,  ///< has waited, and now carries out `next`
};

struct Path {
  int reconvergence = 0;  ///< operation at which its lanes meet others
  int next = 0;           ///< operation
  LaneMask mask = 0;
  PathState state = PathState::runs;
  LaneMask elsewhere = 0;  ///< where it goes on: lanes that go on at a corresponding operation
  int frame = 0;           ///< of the call that it is in; see CallFrames
  int parted_at = -1;      ///< of a path that waits for others where they meet: the branch at which they parted
};

class WarpPaths {
 public:
  /// All lanes are at the first operation; `end` is the number of operations.
  void begin(int end, LaneMask lanes);

  bool empty() const { return paths_.empty(); }
  /// The one that runs.
  Path& current() { return paths_.back(); }
  const Path& current() const { return paths_.back(); }
  std::span<const Path> all() const { return paths_; }

  /// Lanes that have met others are the others' from now on. The lowest `kept` paths stay.
  void drop_finished(std::size_t kept = 0) {
    while (paths_.size() > kept && (paths_.back().mask == 0 || paths_.back().next == paths_.back().reconvergence)) {
      paths_.pop_back();
    }
  }
  /// The lanes of the current path part at `branch`: `taken` go on at `target`, which run first, the others behind the
  /// branch. They meet at `meet`.
  void part(int branch, int meet, int target, LaneMask taken);
  /// `staying` lanes of the current path go on at `next`, the others at `aside`, from where no way leads back to them:
  /// they run later, together with those that go there meanwhile. `comes_to(operation)`: whether a way leads from there
  /// to where a path waits.
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
  /// The lanes of the current path part: those of each pair go on at an operation. They meet at `meet`, or, with
  /// `for_good`, where the current path meets others.
  void part_many(int branch, int meet, bool for_good, std::span<const std::pair<int, LaneMask>> ways);
  /// Lanes end.
  void exit(LaneMask leaving);
  /// Lanes of the current path go on at the first operation of a function, and then behind the current path's call.
  void call(int first, LaneMask lanes, int frame);
  /// Lanes end the call that the current path is in.
  void return_from_call(LaneMask leaving);

  /// Some lanes of the current path wait at the operation `at`; those that do not go on behind it.
  void wait(int at, LaneMask lanes);
  /// Lanes that wait at an operation of a call.
  LaneMask waiting_at(int at, int frame) const;
  bool any_waits() const;
  /// The paths that wait at an operation become one, which goes on. Returns how many there were.
  int go_on_together(int at, int frame);
  /// A path that does not wait becomes the current one, another than before if there is one; false if all wait.
  bool run_another();
  /// Lanes that have met, and wait where they did for others that have not, go on without them: the current path then.
  /// False if there are none.
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
