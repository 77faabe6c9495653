// Turns the stages with a register tile into variants: their kernels differ, the choices for a layer do not.
#pragma once

#include <span>

#include "variants/convolution/cuda/register_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

/// Parameters: input, weights as `pack_for_register_tile` packs them, output.
using RegisterTileKernel = void (*)(const float*, const float*, float*, LayerSizes, RegisterTiling);

struct RegisterTileStage {
  std::span<const RegisterTileSize> sizes;      ///< live as long as the program
  std::span<const RegisterTileKernel> kernels;  ///< a size and its kernel have the same index
  bool many_images = false;                     ///< a block computes several images, `images_per_block`
  bool two_buffers = false;                     ///< shared memory holds two steps, `with_two_buffers`
};

/// Parameters of the variant: those of `register_tile_plan`, and, with many images, `images`: the most per block; a
/// batch that they do not divide gets their greatest common divisor.
const Variant& register_tile_variant(const RegisterTileStage& stage);

}  // namespace convladder
