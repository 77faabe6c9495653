// The fast way for launches that are neither counted nor observed by a checker: warps of a block that stand at the
// same operation carry out each operation together, until they part or meet others.
//
// This changes the order in which warps work. A kernel whose warps meet only at barriers (Program::may_run_in_lockstep)
// computes the same, if it has no race. Where warps part at a branch, those that go the same way go on in lockstep, and
// the others alone, up to where the ways meet.
#include <algorithm>
#include <array>
#include <utility>

#include "simulator/execution/block_runner.hpp"

namespace convladder::simulated {

struct BlockRunner::LockstepGroup {
  WarpsInLockstep all;  ///< the view of the handlers
  std::array<Warp*, WarpsInLockstep::kMost> warps{};

  void add(Warp& warp) {
    const auto i = static_cast<std::size_t>(all.count++);
    warps[i] = &warp;
    all.active[i] = warp.paths.current().mask;
    all.warps[i] = &warp.state;
    all.apart[i] = warp.state.bases[0] - all.warps[0]->bases[0];
  }
  std::span<Warp* const> each() const { return {warps.data(), static_cast<std::size_t>(all.count)}; }
  int next() const { return warps[0]->paths.current().next; }

  void leave() { all.count = 0; }

  /// Keeps the warps for which `stays` returns true, with their current lanes.
  template <typename Stays>
  void keep_if(const Stays& stays) {
    const LockstepGroup before = *this;
    all.count = 0;
    for (Warp* const warp : before.each()) {
      if (stays(*warp)) add(*warp);
    }
  }
};

namespace {

/// Whether the current path has lanes that need not wait for others where they are.
bool can_go_on_in_lockstep(const WarpPaths& paths) {
  return !paths.empty() && paths.current().state == PathState::runs && paths.current().mask != 0;
}

LaneMask lanes_that_jump(const WarpState& state, const Operation& operation, LaneMask active) {
  if (!operation.guarded) return active;
  const LaneMask guard = *state.read<LaneMask>(operation.guard);
  return active & (operation.guard_negated ? ~guard : guard);
}

}  // namespace

bool BlockRunner::can_run_in_lockstep() const {
  return !context_.is_counted && program_.may_run_in_lockstep && warps_.size() > 1 && context_.findings == nullptr &&
         context_.observers.empty() && context_.cluster == nullptr && context_.schedule == nullptr;
}

void BlockRunner::run_in_lockstep() {
  if (context_.patterns_in_lockstep.empty()) {
    context_.patterns_in_lockstep.assign(std::size_t{BlockContext::kMostWarps} * context_.counters.size(),
                                         context_.patterns.nothing());
  }
  const auto is_ready = [](const Warp& warp) {
    return warp.status == WarpStatus::running && can_go_on_in_lockstep(warp.paths);
  };
  for (auto warp = warps_.begin(); warp != warps_.end();) {
    if (!is_ready(*warp)) {
      ++warp;
      continue;
    }
    LockstepGroup group;
    group.add(*warp);
    for (++warp; warp != warps_.end() && group.all.count < WarpsInLockstep::kMost; ++warp) {
      if (!is_ready(*warp) || warp->paths.current().next != group.next()) break;
      group.add(*warp);
    }
    run_in_lockstep(group, static_cast<int>(program_.operations.size()));
  }
}

/// Runs the warps until all that are left are at the operation `stop`, or fewer than two are left. All begin at the
/// same operation of their current paths. Warps that leave are where their turn may go on.
void BlockRunner::run_in_lockstep(LockstepGroup& group, int stop) {
  while (group.all.count > 1 && group.next() != stop) {
    int at = group.next();
    const auto is_met = [at](const Warp* warp) { return warp->paths.current().reconvergence == at; };
    if (std::ranges::any_of(group.each(), is_met)) return group.leave();
    const ProgramBlock& block = program_.blocks[program_.block_of_operation[at]];
    run_plain_in_lockstep(group, at, block.end);
    if (at == block.end) continue;
    const OperationKind kind = program_.operations[at].kind;
    if (kind == OperationKind::branch) {
      branch_in_lockstep(group, at, block);
    } else if (kind != OperationKind::meeting || !carry_out_for_each(group, at, block)) {
      return group.leave();
    }
  }
}

/// Carries out the plain operations from `at` on, before `end`; `at` is then where they end.
void BlockRunner::run_plain_in_lockstep(LockstepGroup& group, int& at, int end) {
  const int first = at;
  const auto count = static_cast<std::size_t>(group.all.count);
  for (std::size_t i = 0; i < count; ++i) group.warps[i]->state.mask = group.all.active[i];
  for (; at < end && program_.operations[at].kind == OperationKind::plain; ++at) {
    if (const LockstepHandler handler = program_.lockstep[at]) [[likely]] {
      handler(group.all, program_.operations[at]);
    } else {
      for (std::size_t i = 0; i < count; ++i) run_plain(group.warps[i]->state, group.all.active[i], at, at + 1);
    }
  }
  for (Warp* const warp : group.each()) {
    warp->executed += static_cast<std::uint64_t>(at - first);
    warp->paths.current().next = at;
  }
}

void BlockRunner::branch_in_lockstep(LockstepGroup& group, int at, const ProgramBlock& block) {
  const Operation& operation = program_.operations[at];
  const bool is_backwards = operation.target <= at;
  bool all_jump = true;
  bool none_jumps = true;
  std::array<LaneMask, WarpsInLockstep::kMost> taken{};
  std::array<std::size_t, WarpsInLockstep::kMost> depths{};
  const auto count = static_cast<std::size_t>(group.all.count);
  for (std::size_t i = 0; i < count; ++i) {
    taken[i] = lanes_that_jump(group.warps[i]->state, operation, group.all.active[i]);
    all_jump = all_jump && taken[i] == group.all.active[i];
    none_jumps = none_jumps && taken[i] == 0;
    depths[i] = group.warps[i]->paths.all().size();
    ++group.warps[i]->executed;
  }
  bool goes_on = true;  // no warp's turn has ended
  for (std::size_t i = 0; i < count; ++i) {
    Warp& warp = *group.warps[i];
    if (taken[i] != 0 && taken[i] != group.all.active[i]) {
      goes_on = branch(warp, operation, at, block, taken[i]) && goes_on;
      continue;
    }
    warp.paths.current().next = taken[i] == 0 ? at + 1 : operation.target;
    if (taken[i] != 0 && is_backwards) goes_on = loops(warp, operation, taken[i]) && goes_on;
  }
  if (!goes_on) return group.leave();
  if (!all_jump && !none_jumps) go_apart(group, block.reconvergence, {depths.data(), count});
}

/// Warps go different ways up to where these meet, the largest group in lockstep; they had `depths` paths when they
/// parted. If the ways meet nowhere, only the largest group goes on in lockstep.
void BlockRunner::go_apart(LockstepGroup& group, int meet, std::span<const std::size_t> depths) {
  const bool meets = meet != static_cast<int>(program_.operations.size());
  LockstepGroup most;
  for (std::size_t i = 0; i < depths.size(); ++i) group.warps[i]->paths.drop_finished(depths[i]);
  for (Warp* const first : group.each()) {
    const auto goes_with_it = [&](const Warp& warp) {
      return can_go_on_in_lockstep(first->paths) && can_go_on_in_lockstep(warp.paths) &&
             warp.paths.current().next == first->paths.current().next;
    };
    LockstepGroup some = group;
    some.keep_if(goes_with_it);
    const bool is_there = meets && first->paths.current().next == meet;
    if (some.all.count > most.all.count && !is_there) most = some;
  }
  if (!meets) {
    group = most;
    return;
  }
  run_in_lockstep(most, meet);
  std::size_t number = 0;
  group.keep_if([&](Warp& warp) { return comes_alone_to(warp, meet, depths[number++]); });
}

/// Carries out an operation of all lanes of a warp, for one warp after another. Returns whether all go on after it.
bool BlockRunner::carry_out_for_each(LockstepGroup& group, int at, const ProgramBlock& block) {
  bool goes_on = true;
  for (Warp* const warp : group.each()) {
    ++warp->executed;
    goes_on = execute_special(*warp, program_.operations[at], at, block) && goes_on;
  }
  if (!goes_on) return false;
  const int before = group.all.count;
  group.keep_if(
      [at](const Warp& warp) { return can_go_on_in_lockstep(warp.paths) && warp.paths.current().next == at + 1; });
  return group.all.count == before;
}

/// Runs a warp alone; returns whether it reaches the operation `meet` with `depth` paths before its turn ends.
bool BlockRunner::comes_alone_to(Warp& warp, int meet, std::size_t depth) {
  while (warp.status == WarpStatus::running) {
    warp.paths.drop_finished(depth);
    if (warp.paths.all().size() < depth || !can_go_on_in_lockstep(warp.paths)) return false;
    const bool is_whole = warp.paths.all().size() == depth;
    if (is_whole && warp.paths.current().next == meet) return true;
    if (is_whole && warp.paths.current().next == warp.paths.current().reconvergence) return false;
    if (!run_path(warp, is_whole ? meet : kNowhere)) return false;
  }
  return false;
}

}  // namespace convladder::simulated
