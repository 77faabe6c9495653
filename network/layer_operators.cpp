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

std::optional<FusedShape> fused_shape(const Network& network, std::size_t layer) {
  if (layer + kFusedLayers > network.layers.size()) return std::nullopt;
  const Layer& convolution = network.layers[layer];
  const Layer& activation = network.layers[layer + 1];
  const Layer& pooling = network.layers[layer + 2];
  const bool activates = activation.type == LayerType::tanh || activation.type == LayerType::relu;
  if (convolution.type != LayerType::convolution || !activates || pooling.type != LayerType::max_pool) {
    return std::nullopt;
  }
  return FusedShape{.convolution = convolution.convolution.with_batch(1),
                    .has_bias = convolution.bias,
                    .activation = activation.type == LayerType::tanh ? OperatorType::tanh : OperatorType::relu,
                    .pool_size = pooling.pool_size,
                    .pool_stride = pooling.pool_stride};
}

std::vector<ProblemLayer> problem_layers(const Network& network, const Problem& problem) {
  std::vector<ProblemLayer> layers;
  for (std::size_t index = 0; index < network.layers.size(); ++index) {
    const Layer& layer = network.layers[index];
    if (layer.type == LayerType::convolution && &problem == &convolution_problem()) {
      layers.push_back({index, layer.convolution});
    }
    const std::optional<FusedShape> fused = fused_shape(network, index);
    if (fused && &problem == &fused_problem()) layers.push_back({index, fused_size(*fused)});
    for (const OperatorShape& shape : layer_operators(layer, 1)) {
      const OperatorProblem& of_operator = operator_problem(shape.type);
      if (&problem == &of_operator) layers.push_back({index, of_operator.size_of(shape)});
    }
  }
  return layers;
}

}  // namespace convladder
