// The kernel's side of the stages from the register tile on: what they have in common, for .cu files.
#pragma once

#include <type_traits>

#include "variants/cuda/register_tiling.hpp"

namespace convladder {

/// The sums of one thread: `maps` output maps x `pixels` neighbouring pixels of a row, in registers.
template <int kernel, int stride, int maps, int pixels>
struct SumTile {
  /// Weights are read in fours where they can be: one 128-bit load of shared memory, the same for all lanes of a warp.
  using Weights = std::conditional_t<maps % 4 == 0, float4, float2>;
  static constexpr int weights_per_load = sizeof(Weights) / sizeof(float);
  static constexpr int window = (pixels - 1) * stride + kernel;  ///< inputs under the pixels

  float sums[maps][pixels];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int m = 0; m < maps; ++m) {
#pragma unroll
      for (int i = 0; i < pixels; ++i) sums[m][i] = 0.0F;
    }
  }

  /// Adds one row of the filters: the `window` inputs from `row` on are loaded once and slide under the taps, of which
  /// each has the weights of the tile's maps side by side, at `weights` and every `tap_step` floats after it.
  __device__ __forceinline__ void add_row(const float* row, const float* weights, int tap_step) {
    float inputs[window];
#pragma unroll
    for (int j = 0; j < window; ++j) inputs[j] = row[j];
#pragma unroll
    for (int q = 0; q < kernel; ++q) {
      float tap[maps];
#pragma unroll
      for (int m = 0; m < maps; m += weights_per_load) {
        *reinterpret_cast<Weights*>(tap + m) = *reinterpret_cast<const Weights*>(weights + q * tap_step + m);
      }
#pragma unroll
      for (int m = 0; m < maps; ++m) {
#pragma unroll
        for (int i = 0; i < pixels; ++i) sums[m][i] += inputs[i * stride + q] * tap[m];
      }
    }
  }

  /// Stores the tile: `to` is the first pixel of the first map, `plane` the elements of an output map. Maps and pixels
  /// from `map_count` and `pixel_count` on do not exist.
  __device__ __forceinline__ void store(float* to, int plane, int map_count, int pixel_count) const {
#pragma unroll
    for (int m = 0; m < maps; ++m) {
      if (m < map_count && pixel_count >= pixels) {
#pragma unroll
        for (int i = 0; i < pixels; ++i) to[i] = sums[m][i];
      } else if (m < map_count) {
#pragma unroll
        for (int i = 0; i < pixels; ++i) {
          if (i < pixel_count) to[i] = sums[m][i];
        }
      }
      to += plane;
    }
  }
};

/// Where a block works: in which image, group, tile and maps, and what its threads copy.
struct TilePlace {
  int first_channel;  ///< of the group
  int first_map;      ///< of the block, counted in its group
  int group;
  int row0;  ///< of the tile, in output pixels
  int column0;

  __device__ __forceinline__ TilePlace(const LayerSizes& sizes, const RegisterTiling& tiling, int block_maps,
                                       int tile_columns) {
    const int tiles_across = (sizes.out_width - 1) / tile_columns + 1;
    group = static_cast<int>(blockIdx.y) / tiling.map_blocks;
    first_channel = group * sizes.channels_per_group;
    first_map = static_cast<int>(blockIdx.y) % tiling.map_blocks * block_maps;
    row0 = static_cast<int>(blockIdx.z) / tiles_across * tiling.rows;
    column0 = static_cast<int>(blockIdx.z) % tiles_across * tile_columns;
  }
};

/// Copies `count` floats that are packed as the block reads them, in vectors of `Vector`.
template <typename Vector>
__device__ __forceinline__ void copy_weights(const float* from, float* to, int count) {
  constexpr int step = sizeof(Vector) / sizeof(float);
  for (int i = static_cast<int>(threadIdx.x) * step; i < count; i += static_cast<int>(blockDim.x) * step) {
    *reinterpret_cast<Vector*>(to + i) = *reinterpret_cast<const Vector*>(from + i);
  }
}

/// Walks the threads of a block over the elements [channel][row][column] of the input tile, neighbours first. What
/// would be two divisions per element are two comparisons: the step from one element of a thread to its next is the
/// same everywhere, but for carries.
struct TileWalk {
  int rows;
  int columns;
  int channel, row, column;
  int channel_step, row_step, column_step;

  __device__ __forceinline__ TileWalk(int plane_rows, int plane_columns) : rows(plane_rows), columns(plane_columns) {
    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    column = thread % columns;
    row = thread / columns % rows;
    channel = thread / columns / rows;
    column_step = threads % columns;
    row_step = threads / columns % rows;
    channel_step = threads / columns / rows;
  }
  __device__ __forceinline__ void next() {
    column += column_step;
    row += row_step;
    channel += channel_step;
    if (column >= columns) {
      column -= columns;
      ++row;
    }
    if (row >= rows) {
      row -= rows;
      ++channel;
    }
  }
};

/// Copies `channels` planes of the input under the tile to shared memory, with zeros for the padding. `x` is the first
/// of these channels' planes in the image.
template <int kernel, int stride>
__device__ __forceinline__ void copy_input(const float* x, float* to, const LayerSizes& sizes, int row0, int column0,
                                           int plane_rows, int plane_columns, int pitch, int channels) {
  const int top = row0 * stride - sizes.padding;
  const int left = column0 * stride - sizes.padding;
  for (TileWalk at(plane_rows, plane_columns); at.channel < channels; at.next()) {
    const int in_row = top + at.row;
    const int in_column = left + at.column;
    // Negative numbers become large ones: one comparison for both ends.
    const bool inside = static_cast<unsigned>(in_row) < static_cast<unsigned>(sizes.height) &&
                        static_cast<unsigned>(in_column) < static_cast<unsigned>(sizes.width);
    const int pixel = (at.channel * sizes.height + in_row) * sizes.width + in_column;
    to[(at.channel * plane_rows + at.row) * pitch + at.column] = inside ? x[pixel] : 0.0F;
  }
}

}  // namespace convladder
