// The shape of a convolution with what follows it in a network, as its variants know it.
//
// A fused variant pools and activates when it stores. Its output is smaller by the area of the pooling, and the two
// passes that would read and write all of the convolution's output are gone. See docs/use/fused.md.
//
// A fused variant takes the maximum first and then activates it: tanh, ReLU and adding a value per map never reverse an
// order, so the maximum stays the same, and all but one element of each window are spared the activation.
#pragma once

#include "variants/convolution/conv_shape.hpp"
#include "variants/layer_shapes.hpp"

namespace convladder {

/// y[b, m, r, c] = the largest of f(conv[b, m, r * pool_stride + i, c * pool_stride + j] + bias[m]) over i, j in
/// 0..pool_size - 1, where conv is as in ConvShape. Windows that would leave the convolution's output are left out. A
/// NaN is never hidden: an output is NaN if its window depends on any NaN.
struct FusedShape {
  ConvShape convolution;                     ///< with the batch
  bool has_bias = false;                     ///< one value per output map, added before the activation
  Activation activation = Activation::relu;  ///< f
  int pool_size = 2;                         ///< at most the convolution's output height and width; 1/1: no pooling
  int pool_stride = 2;

  bool operator==(const FusedShape&) const = default;
  bool pools() const { return pool_size > 1 || pool_stride > 1; }
  int pooled_height() const { return (convolution.out_height() - pool_size) / pool_stride + 1; }
  int pooled_width() const { return (convolution.out_width() - pool_size) / pool_stride + 1; }
  /// The shape of the output, NCHW: [batch][out_channels][pooled_height][pooled_width].
  ActivationShape output() const { return {convolution.out_channels, pooled_height(), pooled_width()}; }
  std::size_t output_elements() const { return output().elements() * static_cast<std::size_t>(convolution.batch); }

  FusedShape with_batch(int batch) const {
    FusedShape shape = *this;
    shape.convolution.batch = batch;
    return shape;
  }
  /// The shape as the harness knows it: a size of the problem `fused-convolution`.
  operator ProblemSize() const;  // NOLINT(google-explicit-constructor): it is one
};

/// The shape of a size. Throws std::logic_error for a size of another problem.
FusedShape fused_shape(const ProblemSize& size);

}  // namespace convladder
