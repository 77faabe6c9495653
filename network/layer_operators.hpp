// The operators and fused convolutions that a network's layers come to.
#pragma once

#include <optional>
#include <vector>

#include "network/network.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// The name that networks give to the problem of a layer around the convolutions: "max_pool", "bias".
std::string_view layer_type_of(const Problem& problem);
/// The problems of layers around the convolutions, in the order in which they are listed.
std::vector<const Problem*> layer_problems();

/// The operators that a layer needs beside its convolution, for a batch of 1: one size, or none for a convolution
/// without bias.
std::vector<ProblemSize> layer_operators(const Layer& layer);

/// Layers that one step can compute.
struct FusedLayers {
  ProblemSize size;        ///< of the fused convolution, for a batch of 1; pools nothing where no pooling follows
  std::size_t layers = 0;  ///< the first one included
};

/// The convolution `layer` of the network with the activation that follows it, and the max pooling if that follows;
/// none if no activation follows.
std::optional<FusedLayers> fused_layers(const Network& network, std::size_t layer);
/// The fully connected layer `layer` with the activation that follows it, as a convolution whose filter covers the
/// input; none if no activation follows, or the input is not a square.
std::optional<FusedLayers> fused_fully_connected(const Network& network, std::size_t layer);

/// A layer of a network as a size of a problem, for a batch of 1.
struct ProblemLayer {
  std::size_t index = 0;  ///< in the network; for a problem that takes several layers, the first
  ProblemSize size;
};

/// The layers that belong to the problem; empty if none does.
std::vector<ProblemLayer> problem_layers(const Network& network, const Problem& problem);

}  // namespace convladder
