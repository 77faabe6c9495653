// Starting weights: what a network has before anyone trained it.
#pragma once

#include <cstdint>
#include <vector>

#include "network/network.hpp"

namespace convladder {

/// Pixels enter the first convolution raw, 0..255; this factor in its weights brings them to 0..1.
inline constexpr float kPixelScale = 1.0F / 255.0F;

/// The weights (OIHW) of the convolution `layer_index`, uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio,
/// 2010), times kPixelScale for the network's first convolution. Depends on the seed and the layer's index only.
std::vector<float> initial_convolution_weights(const Network& network, std::size_t layer_index, std::uint64_t seed);

/// The same for a convolution that stands alone.
std::vector<float> initial_convolution_weights(const ConvShape& shape, float scale, std::uint64_t seed);

}  // namespace convladder
