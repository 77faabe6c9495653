// The float64 reference convolution that every variant is compared with.
#pragma once

#include <memory>

#include "variants/accuracy.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/linear_reference.hpp"

namespace convladder {

/// Convolves one image (`input` CHW, `weights` OIHW) by the definition; the order of the sums is fixed and nothing is
/// contracted, so that every machine gets the same bits. Uses all cores. The magnitude is the sum of |x * w|: float32
/// errs by at most a small multiple of 2^-24 times this. Value and magnitude are [out_channels][out_height][out_width].
ReferenceOutput reference_convolution(const ConvShape& shape, const float* input, const float* weights);

/// Convolves `count` images at once in the same way, without magnitudes, rounded to float32.
void reference_forward(const ConvShape& shape, int count, const float* input, const float* weights, float* output);

/// Makes what computes these sums for any number of images. The weights must outlive it.
std::unique_ptr<LinearReference> conv_reference(const ConvShape& shape, const float* weights);

}  // namespace convladder
