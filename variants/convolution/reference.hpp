// The float64 reference convolution that every variant is compared with.
#pragma once

#include "variants/convolution/conv_shape.hpp"
#include "variants/reference_output.hpp"

namespace convladder {

/// Convolves one image (`input` CHW, `weights` OIHW) by the definition; the order of the sums is fixed and nothing is
/// contracted, so that every machine gets the same bits. Uses all cores. The magnitude is the sum of |x * w|: float32
/// errs by at most a small multiple of 2^-24 times this. Value and magnitude are [out_channels][out_height][out_width].
ReferenceOutput reference_convolution(const ConvShape& shape, const float* input, const float* weights);

/// Convolves `count` images at once by the definition, without magnitudes, rounded to float32.
void reference_forward(const ConvShape& shape, int count, const float* input, const float* weights, float* output);

/// Computes the bits of `reference_convolution` for `count` images at once, about ten times as fast: `value` and
/// `magnitude`, the latter rounded to float32, have room for all their outputs.
void reference_batch(const ConvShape& shape, int count, const float* input, const float* weights, double* value,
                     float* magnitude);

/// Computes the sums of one float64 image, for example of a combination of several images.
void reference_of_sums(const ConvShape& shape, const double* input, const float* weights, double* value);

}  // namespace convladder
