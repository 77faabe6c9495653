#include "simulator/state/program.hpp"

#include <algorithm>

namespace convladder::simulated {
namespace {

/// Where execution can go on after the last operation of a block; the number of operations for the end.
std::vector<int> following(const Program& program, const ProgramBlock& block) {
  const Operation& last = program.operations[block.end - 1];
  if (last.kind == OperationKind::branch) {
    return last.guarded ? std::vector<int>{last.target, block.end} : std::vector<int>{last.target};
  }
  if (last.kind == OperationKind::table_branch) {
    std::vector<int> targets = program.branch_tables[last.detail];
    if (last.guarded) targets.push_back(block.end);
    return targets;
  }
  const auto end = static_cast<int>(program.operations.size());
  const bool exits =
      last.kind == OperationKind::exit || last.kind == OperationKind::trap || last.kind == OperationKind::return_;
  if (!exits) return {block.end};
  return last.guarded ? std::vector<int>{end, block.end} : std::vector<int>{end};
}

/// Calls goes_on(operation) for the beginning of every block that can be reached from an operation; a way ends where it
/// returns false. The block of `around` leads nowhere.
template <typename GoesOn>
void follow_ways(const Program& program, int from, int around, const GoesOn& goes_on) {
  std::vector<bool> seen(program.blocks.size() + 1, false);
  std::vector<int> open{from};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    const ProgramBlock& block = program.blocks[program.block_of_operation[at]];
    if (around >= at && around < block.end) continue;
    for (const int next : following(program, block)) {
      const int successor = program.block_of_operation[next];
      if (seen[successor]) continue;
      seen[successor] = true;
      if (goes_on(next)) open.push_back(next);
    }
  }
}

}  // namespace

bool Program::should_meet(int from, int meet, int branch) const {
  bool without_branch = false;
  follow_ways(*this, from, branch, [&](int next) {
    without_branch = without_branch || next == meet;
    return next != meet && next != static_cast<int>(operations.size());
  });
  if (without_branch) return true;
  bool ends_before = false;
  follow_ways(*this, from, -1, [&](int next) {
    ends_before = ends_before || next == static_cast<int>(operations.size());
    return next != meet && next != static_cast<int>(operations.size());
  });
  return !ends_before;
}

}  // namespace convladder::simulated
