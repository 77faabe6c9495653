// The kernel's side of the stages from the register tile on: their common code, for .cu files.
#pragma once

#include <type_traits>

#include "variants/convolution/cuda/register_tiling.hpp"

namespace convladder {

/// The sums of one thread: `maps` output maps x `pixels` neighbouring pixels of a row, in registers.
template <int kernel, int stride, int maps, int pixels>
struct SumTile {
  /// Weights are read four at a time where possible: one 128-bit load of shared memory, the same for all lanes of a
  /// warp.
  using Weights = std::conditional_t<maps % 4 == 0, float4, std::conditional_t<maps % 2 == 0, float2, float>>;
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

  /// Adds one row of the filters: the `window` inputs from `row` on are loaded once and slide under the taps; each tap
  /// has the weights of the tile's maps side by side, at `weights` and every `tap_step` floats after it.
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

/// A `SumTile` for loads and stores in vectors of four: the pixels are runs of four neighbours, and those of
/// neighbouring threads lie side by side; the next run of a thread comes `run_step` pixels on. So a warp's loads and
/// stores touch neighbouring addresses, and each vector of inputs begins at a multiple of 16 bytes.
template <int kernel, int stride, int maps, int pixels>
struct QuadTile {
  using Weights = typename SumTile<kernel, stride, maps, pixels>::Weights;
  static constexpr int weights_per_load = sizeof(Weights) / sizeof(float);
  static constexpr int runs = pixels / 4;
  static constexpr int vectors = (3 * stride + kernel + 3) / 4;  ///< vectors of inputs under a run
  static constexpr int columns_beyond = vectors * 4 - (3 * stride + kernel);

  float sums[maps][runs][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int m = 0; m < maps; ++m) {
#pragma unroll
      for (int i = 0; i < pixels; ++i) sums[m][i / 4][i % 4] = 0.0F;
    }
  }

  /// Adds one row of the filters as `SumTile::add_row` does; the last vector of a run may reach beyond its inputs.
  __device__ __forceinline__ void add_row(const float* row, int run_step, const float* weights, int tap_step) {
    float inputs[runs][vectors * 4];
#pragma unroll
    for (int r = 0; r < runs; ++r) {
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        const float4 four = *reinterpret_cast<const float4*>(row + r * run_step * stride + v * 4);
        inputs[r][v * 4] = four.x;
        inputs[r][v * 4 + 1] = four.y;
        inputs[r][v * 4 + 2] = four.z;
        inputs[r][v * 4 + 3] = four.w;
      }
    }
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
        for (int i = 0; i < pixels; ++i) sums[m][i / 4][i % 4] += inputs[i / 4][i % 4 * stride + q] * tap[m];
      }
    }
  }

  /// Stores the tile as `SumTile::store` does, but as the first data to leave the caches (st.global.cs): nothing reads
  /// the output again before all of it is written. It stores four, two or one pixels at a time, the most that divides
  /// the `width` of the output: addresses are then multiples of the vector's size, and no vector reaches beyond the end
  /// of a row.
  __device__ __forceinline__ void store(float* to, int run_step, int plane, int map_count, int pixel_count,
                                        int width) const {
    if (width % 4 == 0) {
      store_in<float4>(to, run_step, plane, map_count, pixel_count);
    } else if (width % 2 == 0) {
      store_in<float2>(to, run_step, plane, map_count, pixel_count);
    } else {
      store_in<float>(to, run_step, plane, map_count, pixel_count);
    }
  }

 private:
  template <typename Vector>
  __device__ __forceinline__ void store_in(float* to, int run_step, int plane, int map_count, int pixel_count) const {
    constexpr int step = sizeof(Vector) / sizeof(float);
#pragma unroll
    for (int i = 0; i < pixels; i += step) {
      const int pixel = i / 4 * run_step + i % 4;
      if (pixel >= pixel_count) continue;
      float* at = to + pixel;
#pragma unroll
      for (int m = 0; m < maps; ++m) {
        const float* const sum = sums[m][i / 4] + i % 4;
        Vector vector;
        if constexpr (step == 4) {
          vector = make_float4(sum[0], sum[1], sum[2], sum[3]);
        } else if constexpr (step == 2) {
          vector = make_float2(sum[0], sum[1]);
        } else {
          vector = sum[0];
        }
        if (m < map_count) __stcs(reinterpret_cast<Vector*>(at), vector);
        at += plane;
      }
    }
  }
};

/// The part of the layer that a block computes, and this thread's part of it, which has `thread_rows` rows of pixels.
template <int kernel, int stride, int maps, int pixels, int thread_rows = 1>
struct TileBlock {
  int block_maps;
  int plane_rows;  ///< rows of the input under the tile
  int plane_columns;
  int channel_weights;  ///< floats of one channel's filters
  int group;
  int first_map;  ///< counted in the group
  int row0;       ///< first row of the tile, in output pixels
  int column0;
  int strip;  ///< thread number -> (group of maps, row or `thread_rows` rows, strip of pixels)
  int row;
  int map_group;

  /// `columns_beyond` are the columns that the last vectors of a row read after the inputs that are needed.
  __device__ __forceinline__ TileBlock(const LayerSizes& sizes, const RegisterTiling& tiling, int columns_beyond = 0) {
    const int tile_columns = tiling.strips * pixels;
    block_maps = tiling.map_groups * maps;
    plane_rows = (tiling.rows * thread_rows - 1) * stride + kernel;
    plane_columns = (tile_columns - 1) * stride + kernel + columns_beyond;
    channel_weights = kernel * kernel * block_maps;

    const int tiles_across = (sizes.out_width - 1) / tile_columns + 1;
    group = static_cast<int>(blockIdx.y) / tiling.map_blocks;
    first_map = static_cast<int>(blockIdx.y) % tiling.map_blocks * block_maps;
    row0 = static_cast<int>(blockIdx.z) / tiles_across * tiling.rows * thread_rows;
    column0 = static_cast<int>(blockIdx.z) % tiles_across * tile_columns;

    const int thread = static_cast<int>(threadIdx.x);
    strip = thread % tiling.strips;
    row = thread / tiling.strips % tiling.rows;
    map_group = thread / (tiling.strips * tiling.rows);
  }
  /// Whether the thread has work: the last warp has threads that are left over.
  __device__ __forceinline__ bool has_work(const RegisterTiling& tiling) const { return map_group < tiling.map_groups; }
};

/// Copies `count` floats, packed in the order in which the block reads them, in vectors of `Vector`.
template <typename Vector>
__device__ __forceinline__ void copy_weights(const float* from, float* to, int count) {
  constexpr int step = sizeof(Vector) / sizeof(float);
  for (int i = static_cast<int>(threadIdx.x) * step; i < count; i += static_cast<int>(blockDim.x) * step) {
    *reinterpret_cast<Vector*>(to + i) = *reinterpret_cast<const Vector*>(from + i);
  }
}

/// Walks the threads of a block over the elements [channel][row][column] of the input tile, neighbours first. Two
/// comparisons per element replace two divisions: the step from one element of a thread to its next is the same
/// everywhere, but for carries.
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

/// Copies `channels` planes of the input to shared memory, from row `top` and column `left` on, with zeros for the
/// padding. `x` is the first of these channels' planes in the image.
template <typename Block>
__device__ __forceinline__ void copy_input_at(const float* x, float* to, const LayerSizes& sizes, const Block& block,
                                              int top, int left, int pitch, int channels) {
  for (TileWalk at(block.plane_rows, block.plane_columns); at.channel < channels; at.next()) {
    const int in_row = top + at.row;
    const int in_column = left + at.column;
    // Negative numbers become large ones: one comparison checks both ends.
    const bool inside = static_cast<unsigned>(in_row) < static_cast<unsigned>(sizes.height) &&
                        static_cast<unsigned>(in_column) < static_cast<unsigned>(sizes.width);
    const int pixel = (at.channel * sizes.height + in_row) * sizes.width + in_column;
    to[(at.channel * block.plane_rows + at.row) * pitch + at.column] = inside ? x[pixel] : 0.0F;
  }
}

/// Copies `channels` planes of the input under the block's tile to shared memory.
template <int stride, typename Block>
__device__ __forceinline__ void copy_input(const float* x, float* to, const LayerSizes& sizes, const Block& block,
                                           int pitch, int channels) {
  copy_input_at(x, to, sizes, block, block.row0 * stride - sizes.padding, block.column0 * stride - sizes.padding, pitch,
                channels);
}

}  // namespace convladder
