// The memory on the device that a pass or a loaded network holds, and every step with its weights bound to it.
#pragma once

#include <memory>
#include <vector>

#include "devices/device.hpp"
#include "network/network_steps.hpp"
#include "network/weights.hpp"
#include "network/whole_network.hpp"

namespace convladder {

/// Two buffers for the activations of `chunk` images.
class NetworkMemory {
 public:
  NetworkMemory(Device& device, const Network& network, int chunk);
  float* activations(int which) const { return activations_[which].floats(); }

 private:
  DeviceBuffer activations_[2];
};

/// A step bound to its tensors.
struct PreparedStep {
  const NetworkStep* step = nullptr;
  const float* input = nullptr;               ///< null within a whole network
  float* output = nullptr;                    ///< null within a whole network
  std::unique_ptr<PreparedVariant> prepared;  ///< null within a whole network
  PreparedWholeNetwork* whole = nullptr;      ///< a library's network, of which this is the step `index`
  std::size_t index = 0;

  void run() const;
};

/// All steps for chunks of one size. Images enter in the first buffer; `scores` is where the last step leaves its own.
struct PreparedNetwork {
  std::unique_ptr<PreparedWholeNetwork> whole;
  std::vector<PreparedStep> steps;
  const float* scores = nullptr;

  /// Runs all steps; nobody looks at the activations between them.
  void run() const;
};

/// Where a chunk enters and leaves the network.
struct NetworkEnds {
  float* input = nullptr;
  float* output = nullptr;  ///< null: wherever the last step leaves it
};

/// Binds the steps to their tensors. Throws DeviceError where the device or a library refuses.
PreparedNetwork prepare_network(Device& device, const std::vector<NetworkStep>& steps, const NetworkWeights& weights,
                                const NetworkMemory& memory, int images, const NetworkEnds& ends);

}  // namespace convladder
