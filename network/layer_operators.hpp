// Which operators and fused convolutions a network's layers come to.
#pragma once

#include <optional>
#include <vector>

#include "network/network.hpp"
#include "variants/fused/fused_variant.hpp"
#include "variants/layer_operator.hpp"

namespace convladder {

/// What a layer needs beside its convolution: one operator, or none for a convolution without bias.
std::vector<OperatorShape> layer_operators(const Layer& layer, int batch);

/// The convolution `layer` of the network with the activation and the max pooling that follow it, for a batch of 1;
/// none if not both follow.
std::optional<FusedShape> fused_shape(const Network& network, std::size_t layer);
/// The layers that the shape above takes together: the convolution, the activation and the pooling.
inline constexpr std::size_t kFusedLayers = 3;

}  // namespace convladder
