// Runs the blocks of a cluster on one host thread, in turn: each until it ends or waits for another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulator/execution/block_runner.hpp"
#include "simulator/execution/grid_shape.hpp"
#include "simulator/state/cluster.hpp"

namespace convladder::simulated {

class CacheHierarchy;

class ClusterRunner {
 public:
  /// Parameters as in BlockRunner's constructor.
  ClusterRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                RunningLaunch& launch, RunTotals& totals);
  ClusterRunner(const ClusterRunner&) = delete;
  ClusterRunner& operator=(const ClusterRunner&) = delete;

  void set_observers(const std::vector<AccessObserver*>& observers);
  void set_findings(FindingLog* findings);

  /// Begins the cluster with this number; `caches` may be nullptr.
  void begin(const GridShape& grid, std::uint64_t cluster, CacheHierarchy* caches);
  /// Continues until all its blocks have ended, or none can go on, or those that can have yielded.
  BlockProgress go_on(const BlockPatience& patience);
  /// Whether any of its blocks can go on: see BlockRunner::can_go_on.
  bool can_go_on() const;
  void give_up(const std::string& others);

  std::uint64_t number() const { return number_; }

 private:
  BlockProgress go_on_by(Schedule& schedule, const BlockPatience& patience);
  void meet();
  BlockProgress end_all();
  std::uint64_t ended() const;

  Cluster cluster_;
  std::vector<std::unique_ptr<BlockRunner>> blocks_;  // by rank
  std::uint64_t number_ = 0;
  std::size_t next_rank_ = 0;  // the first that a schedule may choose
};

}  // namespace convladder::simulated
