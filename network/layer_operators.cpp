#include "network/layer_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "variants/convolution/problem.hpp"
#include "variants/fused/problem.hpp"

namespace convladder {
namespace {

/// Names of layers' problems: in network files and steps, and as problems.
constexpr std::pair<std::string_view, std::string_view> kLayerProblems[] = {{"max_pool", "max-pooling"},
                                                                            {"tanh", "tanh"},
                                                                            {"relu", "relu"},
                                                                            {"bias", "bias"},
                                                                            {"fully_connected", "fully-connected"},
                                                                            {"softmax", "softmax"}};

const Problem& problem_of(LayerType type) {
  switch (type) {
    case LayerType::tanh:
      return *find_problem("tanh");
    case LayerType::relu:
      return *find_problem("relu");
    case LayerType::max_pool:
      return *find_problem("max-pooling");
    case LayerType::fully_connected:
      return *find_problem("fully-connected");
    case LayerType::softmax:
      return *find_problem("softmax");
    case LayerType::convolution:
      break;
  }
  return *find_problem("bias");  // a convolution's bias: all that it needs beside its variant
}

}  // namespace

std::string_view layer_type_of(const Problem& problem) {
  const auto* const found =
      std::ranges::find(kLayerProblems, problem.name(), [](const auto& one) { return one.second; });
  if (found != std::end(kLayerProblems)) return found->first;
  throw std::logic_error(fmt::format("{} is no layer of a network", problem.name()));
}

std::vector<const Problem*> layer_problems() {
  std::vector<const Problem*> problems;
  for (const auto& [type, name] : kLayerProblems) problems.push_back(find_problem(name));
  return problems;
}

std::vector<ProblemSize> layer_operators(const Layer& layer) {
  const bool is_convolution = layer.type == LayerType::convolution;
  if (is_convolution && !layer.bias) return {};
  const ActivationShape& image = is_convolution ? layer.output : layer.input;
  ProblemSize size{&problem_of(layer.type), 1, {image.channels, image.height, image.width}};
  if (layer.type == LayerType::max_pool) size.values.insert(size.values.end(), {layer.pool_size, layer.pool_stride});
  if (layer.type == LayerType::fully_connected) {
    size.values.insert(size.values.end(), {layer.output.channels, layer.bias ? 1 : 0});
  }
  return {size};
}

std::optional<ConvShape> convolution_in(const ProblemSize& size) {
  if (size.problem == &convolution_problem()) return conv_shape(size);
  if (size.problem == &fused_problem()) return fused_shape(size).convolution;
  return std::nullopt;
}

namespace {

/// The activation behind `layer`, if there is one.
std::optional<Activation> activation_behind(const Network& network, std::size_t layer) {
  if (layer + 1 >= network.layers.size()) return std::nullopt;
  const LayerType type = network.layers[layer + 1].type;
  if (type != LayerType::tanh && type != LayerType::relu) return std::nullopt;
  return type == LayerType::tanh ? Activation::tanh : Activation::relu;
}

}  // namespace

std::optional<FusedLayers> fused_layers(const Network& network, std::size_t layer) {
  const Layer& convolution = network.layers[layer];
  const std::optional<Activation> activation = activation_behind(network, layer);
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
  const std::optional<Activation> activation = activation_behind(network, layer);
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
    if (fused && &problem == &fused_problem()) layers.push_back({index, fused->shape});
    for (const ProblemSize& size : layer_operators(layer)) {
      if (size.problem == &problem) layers.push_back({index, size});
    }
  }
  return layers;
}

}  // namespace convladder
