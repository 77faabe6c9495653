#include "network/network_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "network/network_variant.hpp"
#include "network/reference_network.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

const ProblemKindRegistration kind_registration(kWholeNetworks);

constexpr int kLargestPixel = 255;

}  // namespace

double network_flop(const Network& network) {
  double flop = 0;
  for (const Layer& layer : network.layers) {
    if (has_weights(layer)) flop += layer.size.flop();
  }
  return flop;
}

NetworkProblem::NetworkProblem(const Network& network, std::string argument)
    : network_(network), argument_(std::move(argument)), places_(network.layers.size()) {
  std::vector<std::int64_t> elements;
  std::vector<std::size_t> layers;
  const auto add = [&](const Layer& layer, const char* what, std::size_t count) {
    names_.push_back(fmt::format("{}.{}", layer.name, what));
    elements.push_back(static_cast<std::int64_t>(count));
    layers.push_back(static_cast<std::size_t>(&layer - network.layers.data()));
    return names_.size() - 1;
  };
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (!has_weights(layer)) continue;
    std::size_t count = 1;
    for (const std::int64_t size : weight_shape(layer)) count *= static_cast<std::size_t>(size);
    places_[i].weights = add(layer, "weight", count);
    if (layer.bias) places_[i].bias = add(layer, "bias", static_cast<std::size_t>(layer.output.channels));
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    constants_.push_back({names_[i], elements[i]});
    layer_of_constant_.emplace(names_[i], layers[i]);
  }
}

std::vector<PlacedTensor> NetworkProblem::placed(const NetworkWeights& weights) const {
  std::vector<PlacedTensor> placed;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].weights) continue;
    const LayerWeights& of_layer = weights.layers.at(network_.layers[i].name);
    // Constants are only read.
    placed.push_back({constants_[*places_[i].weights], const_cast<float*>(of_layer.weights.data())});
    if (places_[i].bias) placed.push_back({constants_[*places_[i].bias], const_cast<float*>(of_layer.bias.data())});
  }
  return placed;
}

LayerConstants NetworkProblem::constants_of(std::size_t layer, const std::vector<PlacedTensor>& constants) const {
  const auto at = [&](const std::optional<std::size_t>& place) -> std::span<const float> {
    if (!place) return {};
    const PlacedTensor& one = constants.at(*place);
    return {one.as<float>(), static_cast<std::size_t>(one.tensor.elements)};
  };
  return {at(places_[layer].weights), at(places_[layer].bias)};
}

/// Its stages are those of the convolution.
int NetworkProblem::introduction_rungs() const { return convolution_problem().introduction_rungs(); }

std::vector<ProblemTensor> NetworkProblem::inputs(const ProblemSize& /*size*/) const {
  return {{"images", static_cast<std::int64_t>(network_.input.elements())}};
}

std::vector<ProblemTensor> NetworkProblem::outputs(const ProblemSize& /*size*/) const {
  return {{"scores", static_cast<std::int64_t>(network_.layers.back().output.elements())}};
}

std::int64_t NetworkProblem::intermediate_elements(const ProblemSize& /*size*/) const {
  return static_cast<std::int64_t>(2 * largest_activation(network_));
}

double NetworkProblem::most_saved_operations(const ProblemSize& /*size*/) const {
  double most = 1;
  for (const Layer& layer : network_.layers) {
    most = std::max(most, layer.size.problem->most_saved_operations(layer.size));
  }
  return most;
}

/// Images are whole numbers, as pixels are; weights are those of a network that nobody has trained.
void NetworkProblem::fill(const ProblemSize& /*size*/, const PlacedTensor& tensor, SeededRandom& random,
                          bool /*whole*/) const {
  float* const values = tensor.as<float>();
  const auto count = static_cast<std::size_t>(tensor.tensor.elements);
  const auto constant = layer_of_constant_.find(tensor.tensor.name);
  if (constant == layer_of_constant_.end()) {
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(random.between(0, kLargestPixel));
    return;
  }
  const std::size_t layer = constant->second;
  const LayerWeights initial = initial_layer_weights(network_, layer, random.next());
  const bool is_weights = constants_[places_[layer].weights.value()].name == tensor.tensor.name;
  std::ranges::copy(is_weights ? initial.weights : initial.bias, values);
}

std::vector<ReferenceOutput> NetworkProblem::reference(const ProblemSize& /*size*/, const ProblemTensors& item) const {
  std::vector<LayerConstants> constants;
  for (std::size_t i = 0; i < network_.layers.size(); ++i) constants.push_back(constants_of(i, item.constants));
  return {ReferenceNetwork(network_, std::move(constants)).output(item.input())};
}

const std::vector<ProblemVariant>& NetworkProblem::variants() const {
  std::call_once(listing_, [this] {
    variants_ = layered_networks(*this);
    for (ProblemVariant& library : variants_of_kind(kWholeNetworks)) variants_.push_back(library);
    for (ProblemVariant& one : variants_) one.problem = this;
  });
  return variants_;
}

const NetworkProblem& network_problem(const ProblemSize& size) {
  return dynamic_cast<const NetworkProblem&>(*size.problem);
}

}  // namespace convladder
