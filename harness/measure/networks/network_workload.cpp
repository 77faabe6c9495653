#include "harness/measure/networks/network_workload.hpp"

#include <cstring>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/arguments.hpp"

namespace convladder {

NetworkWorkload::NetworkWorkload(const Network& network, const std::string& network_argument, const ImageSet& images,
                                 int count, const NetworkWeights& weights)
    : network_(&network), network_argument_(network_argument), count_(count) {
  const std::string file = weights_file_content(network, weights, {});
  weights_bytes_ = file.size();
  memory_ = std::make_unique<SharedMemory>(image_bytes() + weights_bytes_);
  fill_image_batch(images, 0, count, network.input.channels, network.input.height, network.input.width,
                   reinterpret_cast<float*>(memory_->data()));
  std::memcpy(memory_->data() + image_bytes(), file.data(), weights_bytes_);
  memory_->seal();
}

NetworkWorkload::NetworkWorkload(const NetworkWorkloadHeader& header, int descriptor)
    : network_(&find_network(header.network)),
      network_argument_(header.network),
      count_(header.images),
      weights_bytes_(header.weights_bytes),
      memory_(std::make_unique<SharedMemory>(descriptor, image_bytes() + weights_bytes_)) {}

std::span<const std::uint8_t> NetworkWorkload::weights_file() const {
  return {reinterpret_cast<const std::uint8_t*>(memory_->data()) + image_bytes(), weights_bytes_};
}

std::size_t NetworkWorkload::image_bytes() const {
  return static_cast<std::size_t>(count_) * network_->input.elements() * sizeof(float);
}

}  // namespace convladder
