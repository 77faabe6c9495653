// The fast way for launches that are neither counted nor observed by a checker: warps of a block that stand at the
// same operation carry out each operation together, until they part or meet others.
//
// This changes the order in which warps work. A kernel whose warps meet only at barriers (Program::may_run_abreast)
// computes the same, if it has no race. Where warps part at a branch, those that go the same way go on abreast, and the
// others alone, up to where the ways meet.
#include <algorithm>
#include <array>
#include <utility>

#include "simulator/execution/block_runner.hpp"

namespace convladder::simulated {

struct BlockRunner::Abreast {
  WarpsAbreast all;  ///< the view of the handlers
  std::array<Warp*, WarpsAbreast::kMost> warps{};

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
    const Abreast before = *this;
    all.count = 0;
    for (Warp* const warp : before.each()) {
      if (stays(*warp)) add(*warp);
    }
  }
};

namespace {

/// Whether the current path has lanes that need not wait for others where they are.
bool can_go_on_abreast(const WarpPaths& paths) {
  return !paths.empty() && paths.current().state == PathState::runs && paths.current().mask != 0;
}

LaneMask lanes_that_jump(const WarpState& state, const Operation& operation, LaneMask active) {
  if (!operation.guarded) return active;
  const LaneMask guard = *state.read<LaneMask>(operation.guard);
  return active & (operation.guard_negated ? ~guard : guard);
}

}  // namespace

bool BlockRunner::can_run_abreast() const {
  return !context_.is_counted && program_.may_run_abreast && warps_.size() > 1 && context_.findings == nullptr &&
         context_.observers.empty() && context_.cluster == nullptr;
}

void BlockRunner::run_abreast() {
  if (context_.patterns_abreast.empty()) {
    context_.patterns_abreast.assign(std::size_t{BlockContext::kMostWarps} * context_.counters.size(),
                                     context_.patterns.nothing());
  }
  const auto is_ready = [](const Warp& warp) {
    return warp.status == WarpStatus::running && can_go_on_abreast(warp.paths);
  };
  for (auto warp = warps_.begin(); warp != warps_.end();) {
    if (!is_ready(*warp)) {
      ++warp;
      continue;
    }
    Abreast abreast;
    abreast.add(*warp);
    for (++warp; warp != warps_.end() && abreast.all.count < WarpsAbreast::kMost; ++warp) {
      if (!is_ready(*warp) || warp->paths.current().next != abreast.next()) break;
      abreast.add(*warp);
    }
    run_abreast(abreast, static_cast<int>(program_.operations.size()));
  }
}

/// Runs the warps until all that are left are at the operation `stop`, or fewer than two are left. All begin at the
/// same operation of their current paths. Warps that leave are where their turn may go on.
void BlockRunner::run_abreast(Abreast& abreast, int stop) {
  while (abreast.all.count > 1 && abreast.next() != stop) {
    int at = abreast.next();
    const auto is_met = [at](const Warp* warp) { return warp->paths.current().reconvergence == at; };
    if (std::ranges::any_of(abreast.each(), is_met)) return abreast.leave();
    const ProgramBlock& block = program_.blocks[program_.block_of_operation[at]];
    run_plain_abreast(abreast, at, block.end);
    if (at == block.end) continue;
    const OperationKind kind = program_.operations[at].kind;
    if (kind == OperationKind::branch) {
      branch_abreast(abreast, at, block);
    } else if (kind != OperationKind::meeting || !carry_out_for_each(abreast, at, block)) {
      return abreast.leave();
    }
  }
}

/// Carries out the plain operations from `at` on, before `end`; `at` is then where they end.
void BlockRunner::run_plain_abreast(Abreast& abreast, int& at, int end) {
  const int first = at;
  const auto count = static_cast<std::size_t>(abreast.all.count);
  for (std::size_t i = 0; i < count; ++i) abreast.warps[i]->state.mask = abreast.all.active[i];
  for (; at < end && program_.operations[at].kind == OperationKind::plain; ++at) {
    if (const AbreastHandler handler = program_.abreast[at]) [[likely]] {
      handler(abreast.all, program_.operations[at]);
    } else {
      for (std::size_t i = 0; i < count; ++i) run_plain(abreast.warps[i]->state, abreast.all.active[i], at, at + 1);
    }
  }
  for (Warp* const warp : abreast.each()) {
    warp->executed += static_cast<std::uint64_t>(at - first);
    warp->paths.current().next = at;
  }
}

void BlockRunner::branch_abreast(Abreast& abreast, int at, const ProgramBlock& block) {
  const Operation& operation = program_.operations[at];
  const bool is_backwards = operation.target <= at;
  bool all_jump = true;
  bool none_jumps = true;
  std::array<LaneMask, WarpsAbreast::kMost> taken{};
  std::array<std::size_t, WarpsAbreast::kMost> depths{};
  const auto count = static_cast<std::size_t>(abreast.all.count);
  for (std::size_t i = 0; i < count; ++i) {
    taken[i] = lanes_that_jump(abreast.warps[i]->state, operation, abreast.all.active[i]);
    all_jump = all_jump && taken[i] == abreast.all.active[i];
    none_jumps = none_jumps && taken[i] == 0;
    depths[i] = abreast.warps[i]->paths.all().size();
    ++abreast.warps[i]->executed;
  }
  bool goes_on = true;  // no warp's turn has ended
  for (std::size_t i = 0; i < count; ++i) {
    Warp& warp = *abreast.warps[i];
    if (taken[i] != 0 && taken[i] != abreast.all.active[i]) {
      goes_on = branch(warp, operation, at, block, taken[i]) && goes_on;
      continue;
    }
    warp.paths.current().next = taken[i] == 0 ? at + 1 : operation.target;
    if (taken[i] != 0 && is_backwards) goes_on = loops(warp, operation, taken[i]) && goes_on;
  }
  if (!goes_on) return abreast.leave();
  if (!all_jump && !none_jumps) go_apart(abreast, block.reconvergence, {depths.data(), count});
}

/// Warps go different ways up to where these meet, the largest group abreast; they had `depths` paths when they parted.
/// If the ways meet nowhere, only the largest group goes on abreast.
void BlockRunner::go_apart(Abreast& abreast, int meet, std::span<const std::size_t> depths) {
  const bool meets = meet != static_cast<int>(program_.operations.size());
  Abreast most;
  for (std::size_t i = 0; i < depths.size(); ++i) abreast.warps[i]->paths.drop_finished(depths[i]);
  for (Warp* const first : abreast.each()) {
    const auto goes_with_it = [&](const Warp& warp) {
      return can_go_on_abreast(first->paths) && can_go_on_abreast(warp.paths) &&
             warp.paths.current().next == first->paths.current().next;
    };
    Abreast some = abreast;
    some.keep_if(goes_with_it);
    const bool is_there = meets && first->paths.current().next == meet;
    if (some.all.count > most.all.count && !is_there) most = some;
  }
  if (!meets) {
    abreast = most;
    return;
  }
  run_abreast(most, meet);
  std::size_t number = 0;
  abreast.keep_if([&](Warp& warp) { return comes_alone_to(warp, meet, depths[number++]); });
}

/// Carries out an operation of all lanes of a warp, for one warp after another. Returns whether all go on after it.
bool BlockRunner::carry_out_for_each(Abreast& abreast, int at, const ProgramBlock& block) {
  bool goes_on = true;
  for (Warp* const warp : abreast.each()) {
    ++warp->executed;
    goes_on = execute_special(*warp, program_.operations[at], at, block) && goes_on;
  }
  if (!goes_on) return false;
  const int before = abreast.all.count;
  abreast.keep_if(
      [at](const Warp& warp) { return can_go_on_abreast(warp.paths) && warp.paths.current().next == at + 1; });
  return abreast.all.count == before;
}

/// Runs a warp alone; returns whether it reaches the operation `meet` with `depth` paths before its turn ends.
bool BlockRunner::comes_alone_to(Warp& warp, int meet, std::size_t depth) {
  while (warp.status == WarpStatus::running) {
    warp.paths.drop_finished(depth);
    if (warp.paths.all().size() < depth || !can_go_on_abreast(warp.paths)) return false;
    const bool is_whole = warp.paths.all().size() == depth;
    if (is_whole && warp.paths.current().next == meet) return true;
    if (is_whole && warp.paths.current().next == warp.paths.current().reconvergence) return false;
    if (!run_path(warp, is_whole ? meet : kNowhere)) return false;
  }
  return false;
}

}  // namespace convladder::simulated
