// What a fused variant is verified on: a convolution's problem with what follows the convolution.
#pragma once

#include <vector>

#include "harness/verification/expected_output.hpp"
#include "harness/verification/step_check.hpp"
#include "variants/fused/fused_variant.hpp"

namespace convladder {

struct FusedProblem {
  FusedShape shape;         ///< of the problem's batch
  ConvProblem convolution;  ///< its input and weights
  std::vector<float> bias;  ///< empty without has_bias
};

/// `whole`: with a bias of whole numbers, and ReLU in the place of tanh, so that a problem of integers comes out
/// exactly.
FusedProblem make_fused_problem(const FusedShape& layer, const ConvProblem& convolution, bool whole);

/// Compares a pooled output with float64: every image whose convolution `expected` holds, and of the others a few that
/// are chosen anew each time. Images are asked for in order, at most `most_elements` at a time or one.
StepCheck check_fused_output(const FusedProblem& problem, const ExpectedOutput& expected, const ReadOutput& read,
                             std::int64_t most_elements, const CallSetting& setting, double tolerance);

}  // namespace convladder
