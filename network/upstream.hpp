// The true input of a layer: the images as the layers before it leave them.
#pragma once

#include <cstdint>

#include "network/network.hpp"

namespace convladder {

/// Runs `count` images (NCHW, of the network's input shape) through the layers before `layer_index`, with the weights
/// that `initial_weights(network, seed)` gives them, and writes what enters that layer to `activations` (NCHW).
void upstream_activations(const Network& network, std::size_t layer_index, int count, const float* images,
                          std::uint64_t seed, float* activations);

}  // namespace convladder
