// What a pass, or a program that keeps its network, holds on the device: memory, weights, and every step bound to them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "network/network_steps.hpp"
#include "network/weights.hpp"
#include "network/whole_network.hpp"

namespace convladder {

/// A layer's weights on the device. A convolution's are the variant's own affair: it takes them from the host.
struct DeviceWeights {
  DeviceBuffer weights;
  DeviceBuffer bias;
};

/// Two buffers for the activations of `chunk` images, and the weights.
class NetworkMemory {
 public:
  NetworkMemory(Device& device, const Network& network, int chunk);

  void copy_weights(Device& device, const NetworkWeights& weights);
  float* activations(int which) const { return activations_[which].floats(); }
  const DeviceWeights& of_layer(const std::string& name) const { return weights_.at(name); }

 private:
  DeviceBuffer activations_[2];
  std::map<std::string, DeviceWeights> weights_;
};

/// A step bound to its tensors.
struct PreparedStep {
  const NetworkStep* step = nullptr;
  const float* input = nullptr;  ///< null within a whole network
  float* output = nullptr;       ///< likewise
  std::unique_ptr<PreparedConv> convolution;
  std::unique_ptr<PreparedOperator> layer_operator;
  PreparedWholeNetwork* whole = nullptr;  ///< a library's network, of which this is the step `index`
  std::size_t index = 0;

  void run() const;
};

/// All steps for chunks of one size. Images enter in the first buffer; `scores` is where the last step leaves its own.
struct PreparedNetwork {
  std::unique_ptr<PreparedWholeNetwork> whole;
  std::vector<PreparedStep> steps;
  const float* scores = nullptr;

  /// All steps, of which nobody wants what lies between.
  void run() const;
};

/// Where a chunk enters and leaves the network.
struct NetworkEnds {
  float* input = nullptr;
  float* output = nullptr;  ///< null: wherever the last step leaves it
};

/// Throws DeviceError where the device or a library refuses.
PreparedNetwork prepare_network(Device& device, const std::vector<NetworkStep>& steps, const NetworkWeights& weights,
                                const NetworkMemory& memory, int images, const NetworkEnds& ends);

}  // namespace convladder
