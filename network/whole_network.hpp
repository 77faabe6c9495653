// The contract: a network that a library does as a whole, in layouts of its own from layer to layer.
//
// The program's own steps hand NCHW from one to the next. A library that is asked for a whole network keeps the layouts
// that suit it, and does as much as it can in one primitive: it stands beside the networks of the ladder's stages as a
// library's convolution stands beside the stages. The output of each of its steps can be read as NCHW, so that it is
// verified step by step as they are.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "network/weights.hpp"
#include "variants/registration.hpp"

namespace convladder {

struct NetworkStep;

/// A network prepared for a number of images. Everything that it was prepared from outlives it.
class PreparedWholeNetwork {
 public:
  PreparedWholeNetwork() = default;
  PreparedWholeNetwork(const PreparedWholeNetwork&) = delete;
  PreparedWholeNetwork& operator=(const PreparedWholeNetwork&) = delete;
  virtual ~PreparedWholeNetwork() = default;

  /// Does the step and waits for it; the steps before it have been done. Throws DeviceError where the library refuses.
  virtual void run_step(std::size_t step) = 0;
  /// Does all steps and waits for them. A library may do more at once here, since nobody asks for the
  /// outputs between.
  virtual void run() = 0;
  /// Writes or reads the step's output for all images, NCHW on the host: to where the step will leave it, or from
  /// there.
  virtual void write_output(std::size_t step, const float* nchw) = 0;
  virtual void read_output(std::size_t step, float* nchw) = 0;
};

/// Where a network begins and ends: NCHW and [image][class], on the device.
struct WholeNetworkTensors {
  const float* input = nullptr;
  float* scores = nullptr;
};

class WholeNetwork {
 public:
  WholeNetwork() = default;
  WholeNetwork(const WholeNetwork&) = delete;
  WholeNetwork& operator=(const WholeNetwork&) = delete;
  virtual ~WholeNetwork() = default;

  /// Why the network cannot do the step, in one line; empty if it can.
  virtual std::string unsupported_reason(const NetworkStep& step) const = 0;
  /// The largest allowed |error| / magnitude of the step's output, like that of the variants and operators that do the
  /// same.
  virtual double tolerance(const NetworkStep& step) const = 0;
  /// Does everything that is done once: weights, which are on the host, in the library's order, memory, primitives.
  /// Throws DeviceError where the library refuses.
  virtual std::unique_ptr<PreparedWholeNetwork> prepare(const std::vector<NetworkStep>& steps,
                                                        const NetworkWeights& weights, int images,
                                                        const WholeNetworkTensors& tensors) const = 0;
};

/// A whole network as it is registered. It has no rung and builds on nothing.
struct RegisteredWholeNetwork {
  VariantInfo info;
  const WholeNetwork* network = nullptr;
};

/// All whole networks of this build, by family and name. Throws std::logic_error if two share both, or one its name
/// with a variant of the family.
const std::vector<RegisteredWholeNetwork>& registered_whole_networks();

/// The whole network of that family and name, or nullptr.
const RegisteredWholeNetwork* find_whole_network(std::string_view family, std::string_view name);

/// A static object of this type registers a whole network.
struct WholeNetworkRegistration {
  WholeNetworkRegistration(const VariantInfo& info, std::unique_ptr<WholeNetwork> network);
};

}  // namespace convladder
