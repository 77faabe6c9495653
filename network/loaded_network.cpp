#include "network/loaded_network.hpp"

#include <algorithm>

namespace convladder {

LoadedNetwork::LoadedNetwork(Device& device, const RunnableNetwork& network, int batch, int chunk)
    : device_(device),
      image_elements_(network.problem.network().input.elements()),
      classes_(network.problem.network().layers.back().output.elements()),
      batch_(batch),
      chunk_(std::min(chunk, batch)),
      input_(device.allocate(image_elements_ * static_cast<std::size_t>(chunk_) * sizeof(float), "images")),
      scores_(device.allocate(classes_ * static_cast<std::size_t>(chunk_) * sizeof(float), "scores")) {
  whole_ = network.prepare(device, chunk_, input_, scores_);
  if (const int rest = batch % chunk_; rest > 0) rest_ = network.prepare(device, rest, input_, scores_);
  device.wait();
}

void LoadedNetwork::run(const ImageRing& images, float* scores) {
  for (int first = 0; first < batch_; first += chunk_) {
    const int count = std::min(chunk_, batch_ - first);
    copy_in(images, first, count);
    (count == chunk_ ? whole_ : rest_)->run();
    device_.wait();
    device_.copy_to_host(scores + static_cast<std::size_t>(first) * classes_, scores_.address(),
                         static_cast<std::size_t>(count) * classes_ * sizeof(float));
  }
}

/// Copies the batch's images from `first` on to the device: in one piece, or in two where the ring ends between them.
void LoadedNetwork::copy_in(const ImageRing& images, int first, int count) {
  for (int done = 0; done < count;) {
    const int at = (images.first + first + done) % images.of;
    const int now = std::min(count - done, images.of - at);
    device_.copy_to_device(input_.floats() + static_cast<std::size_t>(done) * image_elements_,
                           images.images + static_cast<std::size_t>(at) * image_elements_,
                           static_cast<std::size_t>(now) * image_elements_ * sizeof(float));
    done += now;
  }
}

}  // namespace convladder
