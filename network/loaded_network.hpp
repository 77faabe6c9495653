// A network that stays loaded: it is allocated, its weights are copied and prepared once, and batch after batch goes
// through. A pass (network_runner.hpp) does all of that anew for its images.
#pragma once

#include <memory>

#include "devices/device.hpp"
#include "network/network_runner.hpp"

namespace convladder {

/// A batch out of `of` images (NCHW, raw pixels, on the host): its image i is the one at (first + i) % of.
struct ImageRing {
  const float* images = nullptr;
  int of = 1;
  int first = 0;
};

class LoadedNetwork {
 public:
  /// For batches of `batch` images, `chunk` of them at once. The device must outlive the network. Throws DeviceError
  /// where the device refuses.
  LoadedNetwork(Device& device, const RunnableNetwork& network, int batch, int chunk);

  /// Copies the images in, runs every step and copies the scores back, [image][class]; returns when they are there.
  void run(const ImageRing& images, float* scores);

 private:
  void copy_in(const ImageRing& images, int first, int count);

  Device& device_;
  std::size_t image_elements_;
  std::size_t classes_;
  int batch_;
  int chunk_;
  DeviceBuffer input_;  // outlives what is prepared on it, like the next one
  DeviceBuffer scores_;
  std::unique_ptr<PreparedVariant> whole_;
  std::unique_ptr<PreparedVariant> rest_;
};

}  // namespace convladder
