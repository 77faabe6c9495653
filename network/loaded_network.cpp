#include "network/loaded_network.hpp"

#include <algorithm>

namespace convladder {

LoadedNetwork::LoadedNetwork(Device& device, const Network& network, const std::vector<NetworkStep>& steps,
                             const NetworkWeights& weights, int batch, int chunk)
    : device_(device),
      image_elements_(network.input.elements()),
      classes_(network.layers.back().output.elements()),
      batch_(batch),
      chunk_(std::min(chunk, batch)),
      memory_(device, network, chunk_) {
  const NetworkEnds ends{memory_.activations(0), nullptr};
  whole_ = prepare_network(device, steps, weights, memory_, chunk_, ends);
  if (const int rest = batch % chunk_; rest > 0) {
    rest_ = prepare_network(device, steps, weights, memory_, rest, ends);
  }
  device.wait();
}

void LoadedNetwork::run(const ImageRing& images, float* scores) {
  for (int first = 0; first < batch_; first += chunk_) {
    const int count = std::min(chunk_, batch_ - first);
    const PreparedNetwork& network = count == chunk_ ? whole_ : rest_;
    copy_in(images, first, count);
    network.run();
    device_.wait();
    device_.copy_to_host(scores + static_cast<std::size_t>(first) * classes_, network.scores,
                         static_cast<std::size_t>(count) * classes_ * sizeof(float));
  }
}

/// Copies the batch's images from `first` on to the device: in one piece, or in two where the ring ends between them.
void LoadedNetwork::copy_in(const ImageRing& images, int first, int count) {
  for (int done = 0; done < count;) {
    const int at = (images.first + first + done) % images.of;
    const int now = std::min(count - done, images.of - at);
    device_.copy_to_device(memory_.activations(0) + static_cast<std::size_t>(done) * image_elements_,
                           images.images + static_cast<std::size_t>(at) * image_elements_,
                           static_cast<std::size_t>(now) * image_elements_ * sizeof(float));
    done += now;
  }
}

}  // namespace convladder
