// The convolution as one problem among others. How its own variants know its sizes is in conv_shape.hpp.
#pragma once

#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

const Problem& convolution_problem();

/// The tensors of a call: input and output in NCHW, weights in OIHW.
ProblemTensors conv_tensors(const ProblemSize& size, const float* input, const float* weights, float* output);

}  // namespace convladder
