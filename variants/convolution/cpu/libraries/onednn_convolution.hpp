// The pieces that oneDNN's convolutions share: memory descriptors, weights, and the primitive itself.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "variants/convolution/problem.hpp"

namespace convladder {

/// Which layout the source and destination of the primitive have.
enum class OnednnLayout {
  nchw,     ///< as everywhere in this program
  library,  ///< what the library asks for, blocked by channels as a rule
};

/// A oneDNN convolution with its weights reordered once into what the primitive asks for.
struct OnednnConvolution {
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::convolution_forward::primitive_desc description;
  dnnl::memory weights;
  dnnl::convolution_forward primitive;

  /// `weights` are OIHW on the host. Throws dnnl::error where the library refuses.
  OnednnConvolution(const ConvShape& shape, const float* weights, OnednnLayout layout);

  /// "jit:avx512_core, weights …": the implementation the library chose.
  std::string implementation() const;
};

/// "2.6.3", of the library that is loaded.
std::string onednn_version();

/// Descriptor of a plain NCHW tensor of `channels` x `height` x `width`.
dnnl::memory::desc nchw(int batch, int channels, int height, int width);

/// Descriptor of a convolution's weights as they are everywhere in this program: OIHW, with groups GOIHW.
dnnl::memory::desc plain_weights(const ConvShape& shape);

/// Padding at the bottom and right, such that the output has the size of the shape when the stride does not divide.
dnnl::memory::dims padding_at_end(const ConvShape& shape);

}  // namespace convladder
