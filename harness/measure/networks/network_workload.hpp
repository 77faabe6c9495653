// What the runs of one network share: its images and weights, in memory that every case's process reads and none can
// write to.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "datasets/image_set.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "network/network.hpp"
#include "network/weights.hpp"

namespace convladder {

class NetworkWorkload {
 public:
  /// Resizes the first `count` images and keeps them beside the weights. `network_argument` is what finds the network
  /// in another process.
  NetworkWorkload(const Network& network, const std::string& network_argument, const ImageSet& images, int count,
                  const NetworkWeights& weights);
  /// Opens, in another process, what `header` describes.
  NetworkWorkload(const nlohmann::ordered_json& header, int descriptor);

  /// What the other process needs to know besides the descriptor.
  nlohmann::ordered_json header() const;
  int descriptor() const { return memory_->descriptor(); }

  const Network& network() const { return *network_; }
  /// NCHW, raw pixels.
  const float* images() const { return reinterpret_cast<const float*>(memory_->data()); }
  int count() const { return count_; }
  /// As `weights_file_content` makes them.
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
