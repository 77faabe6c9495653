// The data that the runs of one network share: its images and weights, in memory that every case's process reads and
// none can write to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "datasets/image_set.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "network/network.hpp"
#include "network/weights.hpp"

namespace convladder {

/// From what another process opens a workload, besides its descriptor.
struct NetworkWorkloadHeader {
  std::string network;  ///< the text by which it finds the network
  int images = 0;
  std::size_t weights_bytes = 0;
  static void each_field(auto&& field, auto& its) {
    field("network", its.network, "images", its.images, "weights_bytes", its.weights_bytes);
  }
};

class NetworkWorkload {
 public:
  /// Resizes the first `count` images and keeps them beside the weights. `network_argument` is the text by which
  /// another process finds the network.
  NetworkWorkload(const Network& network, const std::string& network_argument, const ImageSet& images, int count,
                  const NetworkWeights& weights);
  /// Opens, in another process, the workload that `header` describes.
  NetworkWorkload(const NetworkWorkloadHeader& header, int descriptor);

  NetworkWorkloadHeader header() const { return {network_argument_, count_, weights_bytes_}; }
  int descriptor() const { return memory_->descriptor(); }

  const Network& network() const { return *network_; }
  /// The images, NCHW, raw pixels.
  const float* images() const { return reinterpret_cast<const float*>(memory_->data()); }
  int count() const { return count_; }
  /// The weights, as `weights_file_content` makes them.
  std::span<const std::uint8_t> weights_file() const;

 private:
  std::size_t image_bytes() const;

  const Network* network_;
  std::string network_argument_;
  int count_ = 0;
  std::size_t weights_bytes_ = 0;
  std::unique_ptr<SharedMemory> memory_;
};

}  // namespace convladder
