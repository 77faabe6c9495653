// Variants of a whole network that are made of variants of its layers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/network_problem.hpp"
#include "network/network_steps.hpp"

namespace convladder {

// The variants that take what suits each layer: with fused layers, and without.
inline constexpr std::string_view kBest = "best";
inline constexpr std::string_view kBestSeparate = "best-separate";

/// The network with each layer computed as `choice` says, in as many parts as it has steps. A choice of a library's
/// network is that library's variant itself.
std::shared_ptr<const Variant> network_variant(const NetworkChoice& choice);

/// The network's ladder: each stage and each library of the convolution in all its convolutions, and above them what
/// suits each layer best, with fused layers and without.
std::vector<ProblemVariant> layered_networks(const NetworkProblem& problem);

/// The choice that gives each layer of the network what suits it at this batch, with fused layers or without. Without
/// convolutions where the family has none that can run one of them.
NetworkChoice best_choice(const Network& network, std::string_view family, int batch, bool fused);

/// The network that the library of that name does as a whole; none if no library is called that.
std::optional<ProblemVariant> library_network(std::string_view family, std::string_view name);

/// The steps as the parts of a variant of the problem.
std::vector<VariantPart> network_parts(const NetworkProblem& problem, const std::vector<NetworkStep>& steps);

}  // namespace convladder
