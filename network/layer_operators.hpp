// Which operators and fused convolutions a network's layers come to.
#pragma once

#include <optional>
#include <vector>

#include "network/network.hpp"
#include "variants/fused/fused_variant.hpp"
#include "variants/layer_operator.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// What a layer needs beside its convolution: one operator, or none for a convolution without bias.
std::vector<OperatorShape> layer_operators(const Layer& layer, int batch);

/// The convolution `layer` of the network with the activation and the max pooling that follow it, for a batch of 1;
/// none if not both follow.
std::optional<FusedShape> fused_shape(const Network& network, std::size_t layer);
/// The layers that the shape above takes together: the convolution, the activation and the pooling.
inline constexpr std::size_t kFusedLayers = 3;

/// A layer of a network as a size of a problem, for a batch of 1.
struct ProblemLayer {
  std::size_t index = 0;  ///< in the network; of a problem that takes several layers, the first
  ProblemSize size;
};

/// The layers that are of the problem; none of a problem that no layer is of.
std::vector<ProblemLayer> problem_layers(const Network& network, const Problem& problem);

}  // namespace convladder
