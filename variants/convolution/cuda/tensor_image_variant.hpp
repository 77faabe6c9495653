// Turns the stages whose fragments come from an image into variants: their kernels differ, the choices for a layer do
// not.
#pragma once

#include "variants/convolution/cuda/tensor_image_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

/// Parameters: input, weights as `pack_for_tensor_image` packs them, output.
using TensorImageKernel = void (*)(const float*, const float*, float*, LayerSizes, TensorImageTiling);

struct TensorImageStage {
  TensorImageKernel (*kernel_for)(int maps) = nullptr;  ///< `maps` of a map tile: 64, 32 or 16
  Tf32Parts parts = Tf32Parts::one;
  double tolerance = 1e-3;  ///< `Variant::tolerance`
};

/// Parameters of the variant: maps of a map tile, warps of a block.
const Variant& tensor_image_variant(const TensorImageStage& stage);

}  // namespace convladder
