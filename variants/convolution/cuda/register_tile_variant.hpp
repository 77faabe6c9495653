// The stages with a register tile as variants: their kernels differ, what is chosen for a layer does not.
#pragma once

#include <span>

#include "variants/convolution/cuda/register_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

/// input, weights as `pack_for_register_tile` packs them, output
using RegisterTileKernel = void (*)(const float*, const float*, float*, LayerSizes, RegisterTiling);

struct RegisterTileStage {
  std::span<const RegisterTileSize> sizes;      ///< live as long as the program
  std::span<const RegisterTileKernel> kernels;  ///< a size and its kernel stand at the same place
  bool many_images = false;                     ///< a block computes several images, `images_per_block`
  bool two_buffers = false;                     ///< shared memory holds two steps, `with_two_buffers`
};

/// Parameters: those of `register_tile_plan`, and, with many images, `images`: so many per block at most; a batch that
/// they do not divide gets their greatest common divisor.
const Variant& register_tile_variant(const RegisterTileStage& stage);

}  // namespace convladder
