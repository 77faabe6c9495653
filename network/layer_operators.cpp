#include "network/layer_operators.hpp"

#include "variants/convolution/problem.hpp"
#include "variants/fused/problem.hpp"
#include "variants/operator_problem.hpp"

namespace convladder {
namespace {

OperatorType operator_type(LayerType type) {
  switch (type) {
    case LayerType::tanh:
      return OperatorType::tanh;
    case LayerType::relu:
      return OperatorType::relu;
    case LayerType::max_pool:
      return OperatorType::max_pool;
    case LayerType::fully_connected:
      return OperatorType::fully_connected;
    case LayerType::softmax:
      return OperatorType::softmax;
    case LayerType::convolution:
      break;
  }
  return OperatorType::bias;  // of a convolution: all that it needs beside its variant
}

}  // namespace

std::vector<OperatorShape> layer_operators(const Layer& layer, int batch) {
  if (layer.type == LayerType::convolution) {
    if (!layer.bias) return {};
    return {{.type = OperatorType::bias, .batch = batch, .input = layer.output, .output = layer.output}};
  }
  return {{.type = operator_type(layer.type),
           .batch = batch,
           .input = layer.input,
           .output = layer.output,
           .pool_size = layer.pool_size,
           .pool_stride = layer.pool_stride,
           .has_bias = layer.bias}};
}

namespace {

/// The activation behind `layer`, if one is.
std::optional<OperatorType> activation_behind(const Network& network, std::size_t layer) {
  if (layer + 1 >= network.layers.size()) return std::nullopt;
  const LayerType type = network.layers[layer + 1].type;
  if (type != LayerType::tanh && type != LayerType::relu) return std::nullopt;
  return type == LayerType::tanh ? OperatorType::tanh : OperatorType::relu;
}

}  // namespace

std::optional<FusedLayers> fused_layers(const Network& network, std::size_t layer) {
  const Layer& convolution = network.layers[layer];
  const std::optional<OperatorType> activation = activation_behind(network, layer);
  if (convolution.type != LayerType::convolution || !activation) return std::nullopt;
  FusedLayers fused{{.convolution = convolution.convolution.with_batch(1),
                     .has_bias = convolution.bias,
                     .activation = *activation,
                     .pool_size = 1,
                     .pool_stride = 1},
                    2};
  if (layer + 2 < network.layers.size() && network.layers[layer + 2].type == LayerType::max_pool) {
    fused.shape.pool_size = network.layers[layer + 2].pool_size;
    fused.shape.pool_stride = network.layers[layer + 2].pool_stride;
    fused.layers = 3;
  }
  return fused;
}

std::optional<FusedLayers> fused_fully_connected(const Network& network, std::size_t layer) {
  const Layer& connected = network.layers[layer];
  const std::optional<OperatorType> activation = activation_behind(network, layer);
  const ActivationShape& input = connected.input;
  if (connected.type != LayerType::fully_connected || !activation || input.height != input.width) return std::nullopt;
  return FusedLayers{{.convolution = {.batch = 1,
                                      .in_channels = input.channels,
                                      .height = input.height,
                                      .width = input.width,
                                      .out_channels = connected.output.channels,
                                      .kernel = input.height},
                      .has_bias = connected.bias,
                      .activation = *activation,
                      .pool_size = 1,
                      .pool_stride = 1},
                     2};
}

std::vector<ProblemLayer> problem_layers(const Network& network, const Problem& problem) {
  std::vector<ProblemLayer> layers;
  for (std::size_t index = 0; index < network.layers.size(); ++index) {
    const Layer& layer = network.layers[index];
    if (layer.type == LayerType::convolution && &problem == &convolution_problem()) {
      layers.push_back({index, layer.convolution});
    }
    const std::optional<FusedLayers> fused = fused_layers(network, index);
    if (fused && &problem == &fused_problem()) layers.push_back({index, fused_size(fused->shape)});
    for (const OperatorShape& shape : layer_operators(layer, 1)) {
      const OperatorProblem& of_operator = operator_problem(shape.type);
      if (&problem == &of_operator) layers.push_back({index, of_operator.size_of(shape)});
    }
  }
  return layers;
}

}  // namespace convladder
