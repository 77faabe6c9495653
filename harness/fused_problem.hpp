// What a fused variant is verified on: a convolution's problem with what follows the convolution.
#pragma once

#include <vector>

#include "harness/step_verifier.hpp"
#include "harness/workload.hpp"
#include "network/fused/fused_variant.hpp"
#include "network/operators/reference.hpp"

namespace convladder {

struct FusedProblem {
  FusedShape shape;                          ///< of the problem's batch
  const Problem* convolution = nullptr;      ///< its input and weights
  std::vector<float> bias;                   ///< empty without has_bias
  std::vector<OperatorReference> reference;  ///< of `convolution->compared_images`, in their order
};

/// `whole`: with a bias of whole numbers, and ReLU in the place of tanh, so that a problem of integers comes out
/// exactly.
FusedProblem make_fused_problem(const FusedShape& layer, const Problem& convolution, bool whole);

/// Holds the output, which was poisoned before, against the reference; every element of the batch has to be written.
StepCheck check_fused_output(Device& device, const FusedProblem& problem, const float* output, double tolerance);

}  // namespace convladder
