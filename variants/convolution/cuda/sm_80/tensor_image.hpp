// The common code of the stages whose fragments come from an image, for .cu files.
#pragma once

#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/cuda/sm_80/tensor_tile.hpp"
#include "variants/convolution/cuda/tensor_image_tiling.hpp"

namespace convladder {

/// The part of a layer that a block computes, and this lane's part of it. `parts` images lie in shared memory, one
/// behind the other.
template <int maps, int parts>
struct ImageBlock {
  static constexpr int pixel_tiles = TensorTile<SlotType::tf32, maps>::pixel_tiles;

  const float* input;     ///< the group's first channel in the image
  const int2* offsets;    ///< offsets of the taps of the first fragment that this lane needs
  const float4* weights;  ///< this lane's weights of the first fragment
  int first_row;          ///< row of the output under which the image begins
  int warp_pixel;         ///< the warp's first pixel, counted in the output map
  int map;                ///< the block's first map, counted in the group
  int group;
  int part_floats;          ///< from one image in shared memory to the next
  int places[pixel_tiles];  ///< where the windows of this lane's pixels begin in the image

  __device__ __forceinline__ ImageBlock(const float* x, const float* w, const LayerSizes& sizes,
                                        const TensorImageTiling& tiling) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int plane = sizes.height * sizes.width;
    const int first_pixel = static_cast<int>(blockIdx.z * blockDim.x);
    group = static_cast<int>(blockIdx.y) / tiling.map_tiles;
    map = static_cast<int>(blockIdx.y) % tiling.map_tiles * maps;
    first_row = first_pixel / sizes.out_width;
    warp_pixel = first_pixel + static_cast<int>(threadIdx.x) / 32 * 32;
    part_floats = tiling.channels_per_step * tiling.plane_rows * tiling.pitch;
    input = x + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.in_channels * plane) +
            group * sizes.channels_per_group * plane;
    offsets = reinterpret_cast<const int2*>(w) + lane % 4;
    weights = reinterpret_cast<const float4*>(w + tiling.steps * tiling.fragments * fragment_taps) +
              static_cast<int>(blockIdx.y) * tiling.steps * tiling.fragments * (maps / 16) * parts * 32 + lane;
#pragma unroll
    for (int j = 0; j < pixel_tiles; ++j) {
      const int pixel = warp_pixel + j * 8 + lane / 4;
      const int row = pixel / sizes.out_width - first_row;
      const int place = (row * tiling.pitch + pixel % sizes.out_width) * sizes.stride;
      places[j] = pixel < sizes.out_height * sizes.out_width ? place : 0;
    }
  }

  /// Copies a step's channels of the input under the block's pixels, in tf32, with zeros for the padding. The second
  /// part is the rest that rounding cuts off the first.
  __device__ __forceinline__ void copy_image(unsigned* to, const LayerSizes& sizes, const TensorImageTiling& tiling,
                                             int step) const {
    const int channel0 = step * tiling.channels_per_step;
    const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
    for (TileWalk at(tiling.plane_rows, tiling.pitch); at.channel < channels; at.next()) {
      const int in_row = first_row * sizes.stride - sizes.padding + at.row;
      const int in_column = at.column - sizes.padding;
      const bool inside = static_cast<unsigned>(in_row) < static_cast<unsigned>(sizes.height) &&
                          static_cast<unsigned>(in_column) < static_cast<unsigned>(sizes.width);
      const int pixel = ((channel0 + at.channel) * sizes.height + in_row) * sizes.width + in_column;
      const float value = inside ? input[pixel] : 0.0F;
      unsigned* const element = to + (at.channel * tiling.plane_rows + at.row) * tiling.pitch + at.column;
      element[0] = to_tf32(value);
      if constexpr (parts == 2) element[part_floats] = to_tf32(value - __uint_as_float(to_tf32(value)));
    }
  }

  /// Loads the inputs of one fragment from an image in shared memory.
  __device__ __forceinline__ void load_inputs(const unsigned* image, int2 offset, unsigned (&b)[pixel_tiles][2]) const {
#pragma unroll
    for (int j = 0; j < pixel_tiles; ++j) {
      b[j][0] = image[places[j] + offset.x];
      b[j][1] = image[places[j] + offset.y];
    }
  }

  __device__ __forceinline__ void store(const TensorTile<SlotType::tf32, maps>& tile, float* y,
                                        const LayerSizes& sizes) const {
    const int plane = sizes.out_height * sizes.out_width;
    y += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.out_channels * plane) +
         (group * sizes.maps_per_group + map) * plane + warp_pixel;
    tile.store(y, plane, sizes.maps_per_group - map, plane - warp_pixel);
  }
};

/// Loads four weights of a lane as a fragment.
__device__ __forceinline__ void load_weights(const float4* from, unsigned (&a)[4]) {
  const float4 four = *from;
  a[0] = __float_as_uint(four.x);
  a[1] = __float_as_uint(four.y);
  a[2] = __float_as_uint(four.z);
  a[3] = __float_as_uint(four.w);
}

}  // namespace convladder
