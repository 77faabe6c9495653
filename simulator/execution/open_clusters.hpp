// Clusters of a launch that have begun on one host thread and may wait for each other, as at a barrier of the grid.
//
// Each runs until it ends or is left. Clusters that are left go on in turn, up and down in their order, once another
// has changed memory. If none can, they wait for ever, and each reports that.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulator/execution/cluster_runner.hpp"

namespace convladder::simulated {

class OpenClusters {
 public:
  /// `room` is how many clusters can be open at a time, at least one.
  OpenClusters(std::function<std::unique_ptr<ClusterRunner>()> make, std::uint64_t room)
      : make_(std::move(make)), room_(room) {}

  bool empty() const { return left_.empty(); }
  bool has_room() const { return left_.size() < room_; }
  std::uint64_t room() const { return room_; }
  std::uint64_t count() const { return left_.size(); }

  /// Begins a cluster, which runs until it ends or is left.
  void begin(const GridShape& grid, std::uint64_t cluster, CacheHierarchy* caches);
  /// Begins a cluster, which does not run yet.
  void open(const GridShape& grid, std::uint64_t cluster, CacheHierarchy* caches);
  /// Continues one cluster, which the schedule chooses; false if none can go on.
  bool go_on_by(Schedule& schedule);
  /// Continues the clusters that were left, if they can go on; false if none could.
  bool go_on();
  /// Ends all clusters that are left, which wait for ever.
  void give_up(const std::string& others);

 private:
  bool run(ClusterRunner& cluster);

  std::function<std::unique_ptr<ClusterRunner>()> make_;
  std::uint64_t room_;
  BlockPatience patience_ = kPatience;
  bool upwards_ = true;
  std::vector<std::unique_ptr<ClusterRunner>>
      left_;  // by number; with a schedule, in the order in which they were left
  std::vector<std::unique_ptr<ClusterRunner>> idle_;
};

}  // namespace convladder::simulated
