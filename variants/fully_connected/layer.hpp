// The sizes of a fully connected layer as its variants know them.
#pragma once

#include "variants/problem_size.hpp"
#include "variants/problem_tensors.hpp"

namespace convladder {

/// output[image][o] = sum over i of weights[o][i] * input[image][i], plus bias[o] where it has one.
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
