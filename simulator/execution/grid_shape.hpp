// The places where the blocks of a launch run: the clusters of its grid in order, and the multiprocessors that take
// them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulator/execution/executor.hpp"

namespace convladder::simulated {

/// A cluster runs on adjacent multiprocessors, one block on each. Blocks without clusters are clusters of one.
class GridShape {
 public:
  explicit GridShape(const LaunchConfiguration& configuration)
      : window_(configuration.window), cluster_(configuration.cluster), clusters_(configuration.grid) {
    if (window_.count > 0) extent(clusters_, window_.axis) = window_.count;
    clusters_ = {clusters_.x / cluster_.x, clusters_.y / cluster_.y, clusters_.z / cluster_.z};
    multiprocessors_ = static_cast<std::uint64_t>(configuration.gpu->multiprocessors);
  }

  std::uint64_t blocks_per_cluster() const { return cluster_.count(); }
  std::uint64_t clusters() const { return clusters_.count(); }
  std::uint64_t blocks() const { return clusters() * blocks_per_cluster(); }
  /// The number of clusters that begin at a time if each multiprocessor takes one block.
  std::uint64_t side_by_side() const { return std::max<std::uint64_t>(1, multiprocessors_ / blocks_per_cluster()); }

  Dim3 block_index(std::uint64_t cluster, unsigned rank) const {
    const Dim3 place = place_in(clusters_, cluster);
    const Dim3 within = place_in(cluster_, rank);
    Dim3 block{place.x * cluster_.x + within.x, place.y * cluster_.y + within.y, place.z * cluster_.z + within.z};
    if (window_.count > 0) extent(block, window_.axis) += window_.first;
    return block;
  }
  std::uint64_t block_number(std::uint64_t cluster, unsigned rank) const {
    return cluster * blocks_per_cluster() + rank;
  }
  std::uint64_t multiprocessor(std::uint64_t cluster, unsigned rank) const {
    return (cluster % side_by_side() * blocks_per_cluster() + rank) % multiprocessors_;
  }

  /// The place with a number that counts x first, then y, then z.
  static Dim3 place_in(const Dim3& size, std::uint64_t number) {
    return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
            static_cast<unsigned>(number / size.x / size.y)};
  }

 private:
  PlacesOfBlocks window_;
  Dim3 cluster_;
  Dim3 clusters_;
  std::uint64_t multiprocessors_ = 1;
};

}  // namespace convladder::simulated
