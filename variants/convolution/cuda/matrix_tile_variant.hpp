// Turns the stages that multiply matrices into variants: their kernels differ, the choices for a layer do not.
#pragma once

#include <span>
#include <vector>

#include "variants/accuracy.hpp"
#include "variants/convolution/cuda/matrix_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

/// Parameters: input, weights as the stage packs them, output.
using MatrixTileKernel = void (*)(const float*, const float*, float*, LayerSizes, MatrixTiling);

struct MatrixTileStage {
  std::span<const MatrixTileSize> sizes;      ///< live as long as the program
  std::span<const MatrixTileKernel> kernels;  ///< a size and its kernel have the same index
  double tolerance = kFloat32Tolerance;       ///< `Variant::tolerance`
  std::vector<float> (*pack)(const ConvShape&, const MatrixTilePlan&, const float* weights) = pack_for_matrix_tile;
};

/// Parameters of the variant: maps and pixels of a block's tile, as compiled.
const Variant& matrix_tile_variant(const MatrixTileStage& stage);

}  // namespace convladder
