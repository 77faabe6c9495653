// The convolution as one problem among others: its sizes and tensors as its own variants know them.
#pragma once

#include "variants/convolution/conv_shape.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

const Problem& convolution_problem();

/// The shape of a size. Throws std::logic_error for a size of another problem.
ConvShape conv_shape(const ProblemSize& size);

/// The tensors of a call: input and output in NCHW, weights in OIHW.
ProblemTensors conv_tensors(const ConvShape& shape, const float* input, const float* weights, float* output);

}  // namespace convladder
