#include "simulator/lints/flow.hpp"

#include <algorithm>

#include "simulator/ptx/dominators.hpp"

namespace convladder::simulated {

Flow::Flow(const ptx::LinkedKernel& linked, const ptx::Kernel& kernel, const std::string& file)
    : blocks_(ptx::control_flow(linked, kernel, file)) {
  for (int block = 0; block < end(); ++block) {
    block_of_.resize(static_cast<std::size_t>(blocks_[block].end), block);
  }
  find_loops();
}

void Flow::find_loops() {
  // A node before all others leads to the kernel and to each function.
  std::vector<std::vector<int>> successors(blocks_.size() + 2);
  const int root = end() + 1;
  for (int block = 0; block < end(); ++block) {
    successors[block] = blocks_[block].successors;
    if (block == 0 || blocks_[block].begins_function) successors[root].push_back(block);
  }
  const std::vector<int> dominator = ptx::immediate_dominators(successors, root);
  const auto is_above = [&](int above, int block) {
    while (block != root && block != above) block = dominator[block];
    return block == above;
  };
  const std::vector<std::vector<int>> predecessors = ptx::reversed(successors);
  for (int tail = 0; tail < end(); ++tail) {
    if (dominator[tail] == ptx::kNoDominator) continue;
    for (const int head : blocks_[tail].successors) {
      if (head == end() || !is_above(head, tail)) continue;
      auto loop = std::ranges::find(loops_, head, &Loop::head);
      if (loop == loops_.end()) loop = loops_.insert(loop, {head, std::vector<bool>(blocks_.size(), false)});
      loop->has[head] = true;
      std::vector<int> open{tail};
      while (!open.empty()) {
        const int block = open.back();
        open.pop_back();
        if (loop->has[block]) continue;
        loop->has[block] = true;
        for (const int before : predecessors[block]) {
          if (dominator[before] != ptx::kNoDominator) open.push_back(before);
        }
      }
    }
  }
}

int Flow::depth(int block) const {
  return static_cast<int>(std::ranges::count_if(loops_, [block](const Loop& loop) { return loop.has[block]; }));
}

std::vector<bool> Flow::reached(const std::vector<int>& from, int stop, const std::vector<bool>& without) const {
  std::vector<bool> seen(blocks_.size() + 1, false);
  std::vector<int> open = from;
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    if (seen[block] || (block != end() && block != stop && without[block])) continue;
    seen[block] = true;
    if (block == stop || block == end()) continue;
    open.insert(open.end(), blocks_[block].successors.begin(), blocks_[block].successors.end());
  }
  return seen;
}

std::vector<bool> Flow::between(const std::vector<int>& from, int meeting) const {
  std::vector<bool> seen = reached(from, meeting, std::vector<bool>(blocks_.size(), false));
  seen[meeting] = false;
  seen.resize(blocks_.size());
  return seen;
}

std::vector<bool> Flow::region(int block) const {
  return between(blocks_[block].successors, blocks_[block].reconvergence);
}

std::vector<bool> Flow::side(int block, int successor) const {
  return between({successor}, blocks_[block].reconvergence);
}

bool Flow::can_pass(int from, int branch, const std::vector<bool>& without) const {
  const int meeting = blocks_[branch].reconvergence;
  return reached({from}, meeting, without)[meeting];
}

int Flow::left_loop(int branch, int block) const {
  const int meeting = blocks_[branch].reconvergence;
  int found = -1;
  std::ptrdiff_t smallest = 0;
  for (int i = 0; i < static_cast<int>(loops_.size()); ++i) {
    const Loop& loop = loops_[i];
    if (!loop.has[branch] || !loop.has[block] || (meeting != end() && loop.has[meeting])) continue;
    const std::ptrdiff_t size = std::ranges::count(loop.has, true);
    if (found >= 0 && size >= smallest) continue;
    found = i;
    smallest = size;
  }
  return found;
}

}  // namespace convladder::simulated
