// Stage 18: prefetched register tile. While a block multiplies one step's channels, the next step's are on their way.
//
// In stage 9 the threads of a block copy inputs and weights through their registers, wait at a barrier for the last
// one, and only then multiply: with two blocks on a multiprocessor, each must hope that the other is multiplying
// meanwhile. Here shared memory has two buffers, and cp.async (compute capability 8.0) fills one while the register
// tiles are computed from the other, across channels and on into the next image of the block. What stage 12 does for
// the matrix product this does for the tile that suits small layers better. That relieves the latency of global memory
// and the registers through which copies went.
//
// When it loses: two buffers hold half the channels each, so there are more steps. A layer of one channel and a batch
// that leaves one image per block have a single step, and nothing to fetch ahead.
#include <iterator>

#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/cuda/register_tile_variant.hpp"
#include "variants/convolution/cuda/sm_80/asynchronous_copy.hpp"

namespace convladder {

/// Copies the input as `copy_input` does, without waiting for it.
template <int stride, typename Block>
__device__ __forceinline__ void copy_input_async(const float* x, float* to, const LayerSizes& sizes, const Block& block,
                                                 int pitch, int channels) {
  const int top = block.row0 * stride - sizes.padding;
  const int left = block.column0 * stride - sizes.padding;
  for (TileWalk at(block.plane_rows, block.plane_columns); at.channel < channels; at.next()) {
    const int in_row = top + at.row;
    const int in_column = left + at.column;
    const bool inside = static_cast<unsigned>(in_row) < static_cast<unsigned>(sizes.height) &&
                        static_cast<unsigned>(in_column) < static_cast<unsigned>(sizes.width);
    const int pixel = inside ? (at.channel * sizes.height + in_row) * sizes.width + in_column : 0;
    copy_float_async(to + (at.channel * block.plane_rows + at.row) * pitch + at.column, x + pixel, inside);
  }
}

/// Copies weights as `copy_weights` does, without waiting for them.
template <typename Vector>
__device__ __forceinline__ void copy_weights_async(const float* from, float* to, int count) {
  constexpr int step = sizeof(Vector) / sizeof(float);
  for (int i = static_cast<int>(threadIdx.x) * step; i < count; i += static_cast<int>(blockDim.x) * step) {
    copy_vector_async<Vector>(to + i, from + i);
  }
}

/// Dynamic shared memory: two buffers, each with the weights of a step and then `channels_per_step` planes of the
/// input.
template <int kernel, int stride, int maps, int pixels>
__global__ void __launch_bounds__(register_tile_threads, register_tile_blocks)
    conv_prefetched_tile(const float* x, const float* w, float* y, LayerSizes sizes, RegisterTiling tiling) {
  using Tile = SumTile<kernel, stride, maps, pixels>;
  extern __shared__ __align__(16) float shared[];
  const TileBlock<kernel, stride, maps, pixels> block(sizes, tiling);
  const int step_weights = tiling.channels_per_step * block.channel_weights;
  const int step_floats = step_weights + tiling.channels_per_step * block.plane_rows * tiling.pitch;
  const int buffer_floats = (step_floats + 3) / 4 * 4;  // the second buffer begins at a multiple of 16 bytes too

  const std::size_t first_image = static_cast<std::size_t>(blockIdx.x) * static_cast<unsigned>(tiling.images_per_block);
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  const int in_image = sizes.in_channels * in_plane;
  const int out_image = sizes.out_channels * out_plane;
  x += first_image * static_cast<std::size_t>(in_image) + block.group * sizes.channels_per_group * in_plane;
  w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * block.channel_weights;

  const int row = block.row0 + block.row;
  const int column = block.column0 + block.strip * pixels;
  const bool has_output = block.has_work(tiling) && row < sizes.out_height && column < sizes.out_width;
  const int map = block.first_map + block.map_group * maps;
  y += first_image * static_cast<std::size_t>(out_image) + (block.group * sizes.maps_per_group + map) * out_plane +
       row * sizes.out_width + column;

  // The steps of all images in one sequence.
  const int image_steps = (sizes.channels_per_group - 1) / tiling.channels_per_step + 1;
  const int steps = tiling.images_per_block * image_steps;
  const auto channels_of = [&](int channel0) {
    return min(tiling.channels_per_step, sizes.channels_per_group - channel0);
  };
  int next_channel = 0;
  Tile tile;
  tile.clear();
  for (int step = -1; step < steps; ++step) {
    if (step + 1 < steps) {  // start the copies of the next step
      float* const buffer = shared + (step + 1) % 2 * buffer_floats;
      const int channels = channels_of(next_channel);
      copy_input_async<stride>(x + next_channel * in_plane, buffer + step_weights, sizes, block, tiling.pitch,
                               channels);
      if (image_steps > 1 || step < 1) {  // weights of all channels stay once they are in both buffers
        copy_weights_async<typename Tile::Weights>(w + next_channel * block.channel_weights, buffer,
                                                   channels * block.channel_weights);
      }
      next_channel += tiling.channels_per_step;
      if (next_channel >= sizes.channels_per_group) {
        next_channel = 0;
        x += in_image;
      }
    }
    commit_copies();  // an empty group at the end, so that the count is right
    if (step < 0) continue;
    wait_for_copies<1>();  // this step's copies have arrived, the next step's may still be on their way
    __syncthreads();       // everybody's copies have arrived

    const int channel_step = step % image_steps;
    if (has_output) {
      const float* tap_weights = shared + step % 2 * buffer_floats + block.map_group * maps;
      const float* window = shared + step % 2 * buffer_floats + step_weights + block.row * stride * tiling.pitch +
                            block.strip * pixels * stride;
      const int channels = channels_of(channel_step * tiling.channels_per_step);
      for (int channel = 0; channel < channels; ++channel) {
        const float* input_row = window + channel * block.plane_rows * tiling.pitch;
#pragma unroll 1  // a row of the filters is enough straight code
        for (int p = 0; p < kernel; ++p) {
          tile.add_row(input_row, tap_weights, block.block_maps);
          input_row += tiling.pitch;
          tap_weights += kernel * block.block_maps;
        }
      }
      if (channel_step == image_steps - 1) {
        tile.store(y, out_plane, sizes.maps_per_group - map, sizes.out_width - column);
        tile.clear();
        y += out_image;
      }
    }
    __syncthreads();  // everyone is done with this buffer before it is filled again
  }
}

namespace {

template <int kernel, int stride, int maps, int pixels>
constexpr RegisterTileKernel instantiation = conv_prefetched_tile<kernel, stride, maps, pixels>;

/// A size and its kernel have the same index in both lists.
constexpr RegisterTileSize sizes[] = {{3, 1, 8, 7, 7},  {5, 1, 10, 6, 6}, {5, 1, 8, 9, 9},   {5, 1, 6, 11, 11},
                                      {7, 1, 12, 6, 6}, {7, 1, 8, 9, 9},  {7, 1, 4, 16, 16}, {11, 4, 8, 5, 5}};
constexpr RegisterTileKernel kernels[] = {
    instantiation<3, 1, 8, 7>,  instantiation<5, 1, 10, 6>, instantiation<5, 1, 8, 9>,  instantiation<5, 1, 6, 11>,
    instantiation<7, 1, 12, 6>, instantiation<7, 1, 8, 9>,  instantiation<7, 1, 4, 16>, instantiation<11, 4, 8, 5>};
static_assert(std::size(sizes) == std::size(kernels));

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 18,
     .name = "prefetched-tile",
     .title = "Register tile, prefetched",
     .builds_on = "many-images",
     .hypothesis = "Copies run while the tile is computed, so there is no wait between steps."},
    register_tile_variant({.sizes = sizes, .kernels = kernels, .many_images = true, .two_buffers = true})};

}  // namespace
}  // namespace convladder
