#include "simulator/ptx/dominators.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace convladder::ptx {
namespace {

/// The nodes that can be reached, each after all that are reached from it first.
std::vector<int> postorder(const std::vector<std::vector<int>>& successors, int root) {
  std::vector<int> order;
  std::vector<bool> visited(successors.size(), false);
  std::vector<std::pair<int, std::size_t>> stack{{root, 0}};
  visited[static_cast<std::size_t>(root)] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < successors[node].size()) {
      const int successor = successors[node][next++];
      if (visited[successor]) continue;
      visited[successor] = true;
      stack.emplace_back(successor, 0);
    } else {
      order.push_back(node);
      stack.pop_back();
    }
  }
  return order;
}

}  // namespace

std::vector<std::vector<int>> reversed(const std::vector<std::vector<int>>& successors) {
  std::vector<std::vector<int>> edges(successors.size());
  for (int node = 0; node < static_cast<int>(successors.size()); ++node) {
    for (const int successor : successors[node]) edges[successor].push_back(node);
  }
  return edges;
}

std::vector<int> immediate_dominators(const std::vector<std::vector<int>>& successors, int root) {
  const std::vector<std::vector<int>> predecessors = reversed(successors);
  const std::vector<int> order = postorder(successors, root);
  std::vector<int> number(successors.size(), kNoDominator);
  for (int i = 0; i < static_cast<int>(order.size()); ++i) number[order[i]] = i;
  std::vector<int> immediate(successors.size(), kNoDominator);
  immediate[root] = root;
  const auto meet = [&](int a, int b) {
    while (a != b) {
      while (number[a] < number[b]) a = immediate[a];
      while (number[b] < number[a]) b = immediate[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size(); i-- > 0;) {
      const int node = order[i];
      if (node == root) continue;
      int found = kNoDominator;
      for (const int predecessor : predecessors[node]) {
        if (immediate[predecessor] == kNoDominator) continue;
        found = found == kNoDominator ? predecessor : meet(found, predecessor);
      }
      if (found == immediate[node]) continue;
      immediate[node] = found;
      changed = true;
    }
  }
  return immediate;
}

}  // namespace convladder::ptx
