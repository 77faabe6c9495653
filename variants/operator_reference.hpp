// The float64 reference of every operator.
#pragma once

#include <string>

#include "variants/layer_operator.hpp"
#include "variants/reference_output.hpp"

namespace convladder {

/// One image's output. The magnitude, which `LayerOperator::tolerance` is relative to, is
/// - fully_connected: sum of |w * x|, plus |bias|: float32 errs by a small multiple of 2^-24 times this in any order;
/// - bias: |x| + |bias|;
/// - tanh: |tanh x|, since tanh has no cancellation that would magnify an error: it may be wrong by a few units in
///   the last place anywhere;
/// - softmax: 1, the sum of the outputs: an error in a probability counts the same whether it is large or small;
/// - max_pool, relu: 0, for they choose and do not compute.
using OperatorReference = ReferenceOutput;

/// Computes one image by the definition; `weights` and `bias` are null where the operator has none. All are on the
/// host. The order of the sums is fixed and nothing is contracted, so that every machine gets the same bits.
OperatorReference reference_operator(const OperatorShape& shape, const float* input, const float* weights,
                                     const float* bias);

/// Empty if every element of one image's `output` is right: within tolerance * magnitude of its reference, or NaN where
/// the reference is. Otherwise how many are not and which is the first, in one line.
std::string operator_mismatch(const OperatorReference& expected, const float* output, double tolerance);

}  // namespace convladder
