// Which nodes of a graph every way to a node goes through.
#pragma once

#include <vector>

namespace convladder::ptx {

/// For nodes to which no way leads.
inline constexpr int kNoDominator = -1;

/// The immediate dominator of each node: the last one that every way from `root` to it goes through; the root's is
/// itself. Numbers are nodes. With every edge reversed, and the end as the root, these are immediate post-dominators.
///
/// By the iteration of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
std::vector<int> immediate_dominators(const std::vector<std::vector<int>>& successors, int root);

/// The graph with every edge the other way round.
std::vector<std::vector<int>> reversed(const std::vector<std::vector<int>>& successors);

}  // namespace convladder::ptx
