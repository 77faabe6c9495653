// The kernel's side of the stages that multiply matrices: their common code, for .cu files.
#pragma once

#include "variants/convolution/cuda/matrix_tiling.hpp"

namespace convladder {

/// The column of X that a thread gathers: the inputs under one output pixel of the block's tile.
struct InputColumn {
  const float* first;  ///< the input under tap (0, 0, 0); before the image where there is padding
  const float* image;  ///< any address inside the image
  int row;             ///< of `first`, in the image
  int column;
  int height;
  int width;

  /// `pixel` counts through the rows of the output map; beyond the last one, all inputs read as padding.
  __device__ __forceinline__ InputColumn(const float* x, const LayerSizes& sizes, int pixel)
      : image(x), height(sizes.height), width(sizes.width) {
    const bool exists = pixel < sizes.out_height * sizes.out_width;
    row = exists ? pixel / sizes.out_width * sizes.stride - sizes.padding : sizes.height;
    column = pixel % sizes.out_width * sizes.stride - sizes.padding;
    first = x + row * sizes.width + column;
  }
  __device__ __forceinline__ bool has(const TapPlace& tap) const {
    // Negative numbers become large ones: one comparison checks both ends.
    return static_cast<unsigned>(row + tap.row) < static_cast<unsigned>(height) &&
           static_cast<unsigned>(column + tap.column) < static_cast<unsigned>(width);
  }
  __device__ __forceinline__ float at(const TapPlace& tap) const { return has(tap) ? first[tap.offset] : 0.0F; }
};

}  // namespace convladder
