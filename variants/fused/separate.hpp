// What a fused variant is compared with: the stage that it builds on and the operators of a network, one after the
// other.
#pragma once

#include <memory>

#include "variants/convolution/registry.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// A variant of the fused convolution that fuses nothing. Its parts are the stage's convolution, all of the layer, and
/// the operators, each what a network uses unless another is named.
std::unique_ptr<Variant> separate_operators(const RegisteredVariant& stage);

}  // namespace convladder
