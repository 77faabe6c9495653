#include "simulator/execution/cluster_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/caches/cache_hierarchy.hpp"

namespace convladder::simulated {

ClusterRunner::ClusterRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                             RunningLaunch& launch, RunTotals& totals) {
  cluster_.size = configuration.cluster;
  const auto count = static_cast<unsigned>(configuration.cluster.count());
  for (unsigned rank = 0; rank < count; ++rank) {
    blocks_.push_back(std::make_unique<BlockRunner>(program, memory, configuration, launch, totals));
    cluster_.blocks.push_back(&blocks_.back()->context());
  }
  if (count == 1) return;
  for (unsigned rank = 0; rank < count; ++rank) blocks_[rank]->set_cluster(&cluster_, rank);
}

void ClusterRunner::set_observers(const std::vector<AccessObserver*>& observers) {
  for (const auto& block : blocks_) block->set_observers(observers);
}

void ClusterRunner::set_findings(FindingLog* findings) {
  for (const auto& block : blocks_) block->set_findings(findings);
}

void ClusterRunner::begin(const GridShape& grid, std::uint64_t cluster, CacheHierarchy* caches) {
  number_ = cluster;
  next_rank_ = 0;
  for (unsigned rank = 0; rank < blocks_.size(); ++rank) {
    const std::uint64_t multiprocessor = grid.multiprocessor(cluster, rank);
    blocks_[rank]->set_l1(caches == nullptr ? nullptr : &caches->l1(multiprocessor));
    blocks_[rank]->begin(grid.block_index(cluster, rank), grid.block_number(cluster, rank), multiprocessor);
  }
}

std::uint64_t ClusterRunner::ended() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(blocks_, [](const auto& block) { return block->has_ended(); }));
}

BlockProgress ClusterRunner::go_on(const BlockPatience& patience) {
  if (blocks_.size() == 1) return blocks_[0]->go_on(patience);
  Schedule* const schedule = blocks_[0]->context().schedule;
  if (chooses(schedule)) return go_on_by(*schedule, patience);
  while (true) {
    bool any = false;
    bool all_yield = true;
    for (const auto& block : blocks_) {
      if (!block->can_go_on()) continue;
      any = true;
      all_yield = block->go_on(patience) == BlockProgress::yields && all_yield;
      if (block->has_trapped()) return end_all();
      meet();
    }
    if (ended() == blocks_.size()) return BlockProgress::ended;
    if (!any) return BlockProgress::waits;
    if (all_yield) return BlockProgress::yields;
  }
}

/// As `go_on`, but one block goes on, which the schedule chooses.
BlockProgress ClusterRunner::go_on_by(Schedule& schedule, const BlockPatience& patience) {
  std::vector<std::size_t> can;  // from the one behind the last on
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::size_t rank = (next_rank_ + i) % blocks_.size();
    if (blocks_[rank]->can_go_on()) can.push_back(rank);
  }
  if (can.empty()) return BlockProgress::waits;
  const std::size_t rank = can[schedule.next_of(can.size())];
  next_rank_ = rank + 1;
  BlockRunner& block = *blocks_[rank];
  static_cast<void>(block.go_on(patience));
  if (block.has_trapped()) return end_all();
  meet();
  return ended() == blocks_.size() ? BlockProgress::ended : BlockProgress::yields;
}

BlockProgress ClusterRunner::end_all() {
  for (const auto& block : blocks_) {
    if (!block->has_ended()) block->end();
  }
  return BlockProgress::ended;
}

/// Lets blocks pass the cluster's barrier when the warps of all blocks that have not ended have come to it.
void ClusterRunner::meet() {
  const auto has_come = [](const auto& block) { return block->has_ended() || block->is_at_cluster_barrier(); };
  if (!std::ranges::all_of(blocks_, has_come) || ended() == blocks_.size()) return;
  for (const auto& block : blocks_) {
    if (!block->has_ended()) block->pass_cluster_barrier();
  }
  for (AccessObserver* const observer : cluster_.blocks[0]->observers) observer->cluster_met(cluster_);
}

bool ClusterRunner::can_go_on() const {
  return std::ranges::any_of(blocks_, [](const auto& block) { return block->can_go_on(); });
}

void ClusterRunner::give_up(const std::string& others) {
  if (blocks_.size() == 1) return blocks_[0]->give_up(others);
  const auto at_barrier =
      std::ranges::count_if(blocks_, [](const auto& block) { return block->is_at_cluster_barrier(); });
  const std::string of_cluster = fmt::format("; of the cluster's {} blocks {} have ended, {} are at its barrier{}",
                                             blocks_.size(), ended(), at_barrier, others);
  for (const auto& block : blocks_) {
    if (!block->has_ended()) block->give_up(of_cluster);
  }
}

}  // namespace convladder::simulated
