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
      : window_(configuration.window),
        sample_(configuration.sample),
        cluster_(configuration.cluster),
        clusters_(configuration.grid) {
    if (window_.count > 0) extent(clusters_, window_.axis) = window_.count;
    clusters_ = {clusters_.x / cluster_.x, clusters_.y / cluster_.y, clusters_.z / cluster_.z};
    if (sample_.count >= clusters_.count()) sample_ = {clusters_.count(), sample_.part, sample_.parts, true};
    multiprocessors_ = static_cast<std::uint64_t>(configuration.gpu->multiprocessors);
  }

  std::uint64_t blocks_per_cluster() const { return cluster_.count(); }
  /// Those that run.
  std::uint64_t clusters() const {
    if (sample_.count == 0) return clusters_.count();
    return sample_.from_first_on ? first_of_part(sample_.part + 1) - first_of_part(sample_.part)
                                 : (sample_.count + sample_.parts - 1 - sample_.part) / sample_.parts;
  }
  std::uint64_t blocks() const { return clusters() * blocks_per_cluster(); }
  /// The number of clusters that begin at a time if each multiprocessor takes one block.
  std::uint64_t side_by_side() const { return std::max<std::uint64_t>(1, multiprocessors_ / blocks_per_cluster()); }

  Dim3 block_index(std::uint64_t cluster, unsigned rank) const {
    const Dim3 place = place_in(clusters_, number_in_grid(cluster));
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
  std::uint64_t number_in_grid(std::uint64_t cluster) const {
    if (sample_.count == 0) return cluster;
    if (sample_.from_first_on) return first_of_part(sample_.part) + cluster;
    const std::uint64_t number = cluster * sample_.parts + sample_.part;
    return number * (clusters_.count() - 1) / std::max<std::uint64_t>(1, sample_.count - 1);
  }
  std::uint64_t first_of_part(std::uint64_t part) const { return sample_.count * part / sample_.parts; }

  PlacesOfBlocks window_;
  BlockSample sample_;
  Dim3 cluster_;
  Dim3 clusters_;
  std::uint64_t multiprocessors_ = 1;
};

}  // namespace convladder::simulated
