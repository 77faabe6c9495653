#include "network/upstream.hpp"

#include "network/reference_network.hpp"
#include "network/weights.hpp"

namespace convladder {

void upstream_activations(const Network& network, std::size_t layer_index, int count, const float* images,
                          std::uint64_t seed, float* activations) {
  NetworkWeights weights;
  for (std::size_t i = 0; i < layer_index; ++i) {
    const Layer& layer = network.layers[i];
    if (has_weights(layer)) weights.layers[layer.name] = initial_layer_weights(network, i, seed);
  }
  ReferenceNetwork(network, weights).activations(layer_index, count, images, activations);
}

}  // namespace convladder
