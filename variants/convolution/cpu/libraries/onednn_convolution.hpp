// The pieces that oneDNN's convolutions share: memory descriptors, weights, and the primitive itself.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "variants/convolution/problem.hpp"

namespace convladder {

/// The layout of the primitive's source and destination.
enum class OnednnLayout {
  nchw,     ///< the layout of everything else in this program
  library,  ///< the layout that the library asks for, usually blocked by channels
};

/// A convolution in oneDNN's words: its tensors in the layouts that all of this program uses, and its windows.
struct OnednnLayer {
  dnnl::memory::desc input;    ///< NCHW
  dnnl::memory::desc weights;  ///< OIHW, or GOIHW with groups
  dnnl::memory::desc output;   ///< NCHW
  dnnl::memory::dims strides;
  dnnl::memory::dims padding;         ///< at the top and on the left
  dnnl::memory::dims padding_at_end;  ///< makes the output its size where the stride does not divide evenly
};

/// The layer of a size of the problem `convolution`.
OnednnLayer onednn_layer(const ProblemSize& size);

/// A oneDNN convolution with its weights reordered once into the layout that the primitive asks for.
struct OnednnConvolution {
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::convolution_forward::primitive_desc description;
  dnnl::memory weights;
  dnnl::convolution_forward primitive;

  /// `weights` are OIHW on the host. Throws dnnl::error where the library refuses.
  OnednnConvolution(const OnednnLayer& layer, const float* weights, OnednnLayout layout);

  /// "jit:avx512_core, weights …": the implementation the library chose.
  std::string implementation() const;
};

/// The version of the loaded library: "2.6.3".
std::string onednn_version();

/// Descriptor of a plain NCHW tensor of `channels` x `height` x `width`.
dnnl::memory::desc nchw(int batch, int channels, int height, int width);

}  // namespace convladder
