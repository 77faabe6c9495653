// The shapes of a network's layers as their variants know them.
#pragma once

#include <cstddef>
#include <vector>

#include "variants/problem_size.hpp"
#include "variants/problem_tensors.hpp"

namespace convladder {

/// The shape of one image's activations: the input or the output of a layer.
struct ActivationShape {
  int channels = 0;
  int height = 0;
  int width = 0;
  bool operator==(const ActivationShape&) const = default;
  std::size_t elements() const { return static_cast<std::size_t>(channels) * height * width; }
};

/// The functions that make activations.
enum class Activation { relu, tanh };

/// A max pooling: windows of size x size, `stride` apart, none cut off.
struct Pooling {
  ActivationShape input;  ///< shape of one image
  ActivationShape output;
  int size = 1;
  int stride = 1;
};

inline Pooling pooling_of(const ProblemSize& problem_size) {
  const std::vector<int>& v = problem_size.values;
  Pooling pooling{{v.at(0), v.at(1), v.at(2)}, {}, v.at(3), v.at(4)};
  pooling.output = {pooling.input.channels, (pooling.input.height - pooling.size) / pooling.stride + 1,
                    (pooling.input.width - pooling.size) / pooling.stride + 1};
  return pooling;
}

/// A fully connected layer: output[image][o] = sum over i of weights[o][i] * input[image][i], plus bias[o] where it has
/// one.
struct FullyConnectedLayer {
  int batch = 1;
  int inputs = 1;
  int outputs = 1;
  bool has_bias = false;
};

inline FullyConnectedLayer fully_connected_layer(const ProblemSize& size) {
  const std::vector<int>& v = size.values;
  return {size.batch, v.at(0) * v.at(1) * v.at(2), v.at(3), v.at(4) != 0};
}

/// The address of the bias, or nullptr if the layer has none.
inline const float* bias_of(const FullyConnectedLayer& layer, const ProblemTensors& tensors) {
  return layer.has_bias ? tensors.constant(1) : nullptr;
}

}  // namespace convladder
