#include "network/layer_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "variants/convolution/fused/problem.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

/// Names of layers' problems: in network files and steps, and as problems.
constexpr std::pair<std::string_view, std::string_view> kLayerProblems[] = {{"max_pool", "max-pooling"},
                                                                            {"tanh", "tanh"},
                                                                            {"relu", "relu"},
                                                                            {"bias", "bias"},
                                                                            {"fully_connected", "fully-connected"},
                                                                            {"softmax", "softmax"}};

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
  if (layer.type != LayerType::convolution) return {layer.size};
  if (!layer.bias) return {};
  return {{&built_in_problem("bias"), 1, {layer.output.channels, layer.output.height, layer.output.width}}};
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
  if (layer + 2 >= network.layers.size() || network.layers[layer + 2].type != LayerType::max_pool) {
    return FusedLayers{fused_size(convolution.size, convolution.bias, *activation), 2};
  }
  const ProblemSize& pool = network.layers[layer + 2].size;
  return FusedLayers{
      fused_size(convolution.size, convolution.bias, *activation, pool.at("pool_size"), pool.at("pool_stride")), 3};
}

std::optional<FusedLayers> fused_fully_connected(const Network& network, std::size_t layer) {
  const Layer& connected = network.layers[layer];
  const std::optional<Activation> activation = activation_behind(network, layer);
  const ActivationShape& input = connected.input;
  if (connected.type != LayerType::fully_connected || !activation || input.height != input.width) return std::nullopt;
  const ProblemSize convolution{
      &convolution_problem(),
      1,
      {input.channels, input.height, input.width, connected.output.channels, input.height, 1, 0, 1}};
  return FusedLayers{fused_size(convolution, connected.bias, *activation), 2};
}

std::vector<ProblemLayer> problem_layers(const Network& network, const Problem& problem) {
  std::vector<ProblemLayer> layers;
  for (std::size_t index = 0; index < network.layers.size(); ++index) {
    const Layer& layer = network.layers[index];
    std::vector<ProblemSize> sizes = layer_operators(layer);
    if (layer.type == LayerType::convolution) sizes.push_back(layer.size);
    if (const std::optional<FusedLayers> fused = fused_layers(network, index)) sizes.push_back(fused->size);
    for (const ProblemSize& size : sizes) {
      if (size.problem == &problem) layers.push_back({index, size});
    }
  }
  return layers;
}

}  // namespace convladder
