// The float64 reference of every fused variant: convolution, bias, activation, max pooling.
#pragma once

#include "variants/accuracy.hpp"
#include "variants/convolution/fused/fused_shape.hpp"

namespace convladder {

/// Computes one image's pooled output and the scale of its errors from the image (CHW) and the weights (OIHW), by the
/// convolution's own reference (variants/convolution/reference.hpp); `bias` is null without has_bias. Uses all cores.
///
/// The magnitude is the largest S = sum(|x * w|) + |bias| of the window; for tanh half of the value is added. Why the
/// gate of the convolution, 1e-6, carries over: a float32 convolution with its bias errs by at most 1e-6 * S; the
/// largest of a window errs by at most the largest error in it, |max a - max b| <= max |a - b|; tanh and ReLU have a
/// slope of at most 1, so they pass an error on and do not magnify it; and tanh's own error is at most 5e-7 of the
/// value (variants/accuracy.hpp), which is 1e-6 of its half.
ReferenceOutput reference_fused(const FusedShape& shape, const float* input, const float* weights, const float* bias);

}  // namespace convladder
