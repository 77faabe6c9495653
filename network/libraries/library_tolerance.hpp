// The accuracy required of a step that a library does within a whole network.
#pragma once

#include "network/network_steps.hpp"
#include "variants/float32.hpp"

namespace convladder {

/// The largest allowed |error| / magnitude: convolutions in float32's class, sums of fully connected layers in one
/// chain (variants/fully_connected/cpu/onednn_fully_connected.cpp), tanh and softmax by the library's own polynomials.
inline double library_tolerance(const NetworkStep& step) {
  constexpr double kProduct = 5e-6;
  constexpr double kElementwise = 2e-6;
  if (step.is_fully_connected()) return kProduct;
  if (step.kind != StepKind::layer_operator) return kFloat32Tolerance;
  const bool exact = step.source->type == LayerType::max_pool || step.source->type == LayerType::relu;
  return exact ? 0 : kElementwise;
}

}  // namespace convladder
