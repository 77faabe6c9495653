// The true input of a layer: what the layers before it make of the images.
#pragma once

#include <cstdint>

#include "network/network.hpp"

namespace convladder {

/// Empty if the activations before `layer_index` can be computed, otherwise which layer in the way is not supported.
std::string upstream_unsupported(const Network& network, std::size_t layer_index);

/// Runs `count` images (NCHW, of the network's input shape) through the layers before `layer_index`, convolutions with
/// `initial_convolution_weights(network, …, seed)` and biases of zero, and writes what enters that layer to
/// `activations` (NCHW). A few images at a time, so that no batch needs more memory than its input and its result.
void upstream_activations(const Network& network, std::size_t layer_index, int count, const float* images,
                          std::uint64_t seed, float* activations);

}  // namespace convladder
