#include "simulator/execution/open_clusters.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace convladder::simulated {

bool OpenClusters::run(ClusterRunner& cluster) {
  const BlockProgress progress = cluster.go_on(patience_);
  // A cluster that works on and on without a change that others see may be waiting: the others then get their turn.
  if (progress == BlockProgress::yields) patience_ = kPatienceAmongWaiting;
  return progress == BlockProgress::ended;
}

void OpenClusters::begin(const GridShape& grid, std::uint64_t cluster, CacheHierarchy* caches) {
  if (idle_.empty()) idle_.push_back(make_());
  idle_.back()->begin(grid, cluster, caches);
  if (run(*idle_.back())) return;
  left_.push_back(std::move(idle_.back()));
  idle_.pop_back();
}

void OpenClusters::open(const GridShape& grid, std::uint64_t cluster, CacheHierarchy* caches) {
  if (idle_.empty()) idle_.push_back(make_());
  idle_.back()->begin(grid, cluster, caches);
  left_.push_back(std::move(idle_.back()));
  idle_.pop_back();
}

bool OpenClusters::go_on_by(Schedule& schedule) {
  std::vector<std::size_t> can;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    if (left_[i]->can_go_on()) can.push_back(i);
  }
  if (can.empty()) return false;
  const std::size_t which = can[schedule.next_of(can.size())];
  std::unique_ptr<ClusterRunner> cluster = std::move(left_[which]);
  left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(which));
  const BlockProgress progress = cluster->go_on(patience_);
  (progress == BlockProgress::ended ? idle_ : left_).push_back(std::move(cluster));
  return true;
}

bool OpenClusters::go_on() {
  bool any = false;
  if (!upwards_) std::ranges::reverse(left_);
  for (auto& cluster : left_) {
    if (!cluster->can_go_on()) continue;
    any = true;
    if (run(*cluster)) idle_.push_back(std::move(cluster));
  }
  std::erase(left_, nullptr);
  if (!upwards_) std::ranges::reverse(left_);
  upwards_ = !upwards_;
  return any;
}

void OpenClusters::give_up(const std::string& others) {
  for (const auto& cluster : left_) cluster->give_up(others);
  std::ranges::move(left_, std::back_inserter(idle_));
  left_.clear();
}

}  // namespace convladder::simulated
