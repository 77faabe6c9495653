// Stage 10: vectors of four. Inputs are loaded and outputs are stored four at a time, and the stores stream.
//
// In stages 8 and 9 a thread's pixels are one strip, and neighbouring threads' strips begin 6 to 16 floats apart: each
// load from shared memory brings one float, and each store touches 32 sectors for 32 floats, six or eight times in a
// row. Here a thread's pixels are runs of four, and neighbouring threads have neighbouring runs. The inputs under a run
// come in two or three 128-bit loads instead of 8 to 10 single ones; where the width of the output is a multiple of
// four, a run is one 128-bit store, and a warp writes whole sectors. Where it is even it is two stores of 64 bits, and
// each sector is written twice. `__stcs` marks the stored data as the first to leave the caches again, so that the
// output of lenet28, 37 times its input, does not push input and weights out of the L2. That relieves shared memory,
// the issue slots and, above all, the path to the L2.
//
// When it loses: maps of 27 x 27 pixels begin anywhere, so their runs are stored float by float, still four times per
// sector. Runs under a filter of 7 load 12 inputs for the 10 they need. Widths of 13 or 18 leave some of the last run
// idle.
#include <iterator>

#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/cuda/register_tile_variant.hpp"

namespace convladder {

/// Dynamic shared memory: the weights of a step, then `channels_per_step` planes of the input under the tile.
template <int kernel, int stride, int maps, int pixels>
__global__ void __launch_bounds__(register_tile_threads, register_tile_blocks)
    conv_vectors_of_four(const float* x, const float* w, float* y, LayerSizes sizes, RegisterTiling tiling) {
  using Tile = QuadTile<kernel, stride, maps, pixels>;
  extern __shared__ __align__(16) float shared[];
  const TileBlock<kernel, stride, maps, pixels> block(sizes, tiling, Tile::columns_beyond);
  float* weights = shared;
  float* inputs = shared + tiling.channels_per_step * block.channel_weights;

  const std::size_t first_image = static_cast<std::size_t>(blockIdx.x) * static_cast<unsigned>(tiling.images_per_block);
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  const int in_image = sizes.in_channels * in_plane;
  const int out_image = sizes.out_channels * out_plane;
  x += first_image * static_cast<std::size_t>(in_image) + block.group * sizes.channels_per_group * in_plane;
  w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * block.channel_weights;

  const int run_step = tiling.strips * 4;
  const bool weights_stay = tiling.channels_per_step >= sizes.channels_per_group;
  const int row = block.row0 + block.row;
  const int column = block.column0 + block.strip * 4;
  const bool has_output = block.has_work(tiling) && row < sizes.out_height && column < sizes.out_width;
  const int map = block.first_map + block.map_group * maps;
  y += first_image * static_cast<std::size_t>(out_image) + (block.group * sizes.maps_per_group + map) * out_plane +
       row * sizes.out_width + column;

  for (int image = 0; image < tiling.images_per_block; ++image) {
    Tile tile;
    tile.clear();
    for (int channel0 = 0; channel0 < sizes.channels_per_group; channel0 += tiling.channels_per_step) {
      const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
      __syncthreads();  // everyone is done with the channels before
      copy_input<stride>(x + channel0 * in_plane, inputs, sizes, block, tiling.pitch, channels);
      if (image == 0 || !weights_stay) {
        copy_weights<typename Tile::Weights>(w + channel0 * block.channel_weights, weights,
                                             channels * block.channel_weights);
      }
      __syncthreads();  // inputs and weights are complete before anyone reads them
      if (!has_output) continue;

      const float* tap_weights = weights + block.map_group * maps;
      const float* window = inputs + block.row * stride * tiling.pitch + block.strip * 4 * stride;
      for (int channel = 0; channel < channels; ++channel) {
        const float* input_row = window + channel * block.plane_rows * tiling.pitch;
#pragma unroll 1  // a row of the filters is enough straight code
        for (int p = 0; p < kernel; ++p) {
          tile.add_row(input_row, run_step, tap_weights, block.block_maps);
          input_row += tiling.pitch;
          tap_weights += kernel * block.block_maps;
        }
      }
    }
    if (has_output) {
      tile.store(y, run_step, out_plane, sizes.maps_per_group - map, sizes.out_width - column, sizes.out_width);
    }
    x += in_image;
    y += out_image;
  }
}

namespace {

template <int kernel, int stride, int maps, int pixels>
constexpr RegisterTileKernel instantiation = conv_vectors_of_four<kernel, stride, maps, pixels>;

/// A size and its kernel have the same index in both lists.
constexpr RegisterTileSize sizes[] = {{3, 1, 16, 4, 4}, {3, 2, 16, 4, 4}, {5, 1, 10, 4, 4},
                                      {5, 1, 8, 8, 4},  {5, 1, 16, 4, 4}, {7, 1, 12, 4, 4},
                                      {7, 1, 8, 4, 4},  {7, 1, 4, 16, 4}, {11, 4, 12, 4, 4}};
constexpr RegisterTileKernel kernels[] = {
    instantiation<3, 1, 16, 4>, instantiation<3, 2, 16, 4>, instantiation<5, 1, 10, 4>,
    instantiation<5, 1, 8, 8>,  instantiation<5, 1, 16, 4>, instantiation<7, 1, 12, 4>,
    instantiation<7, 1, 8, 4>,  instantiation<7, 1, 4, 16>, instantiation<11, 4, 12, 4>};
static_assert(std::size(sizes) == std::size(kernels));

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 10,
     .name = "vectors-of-four",
     .title = "Vectors of four, streaming stores",
     .builds_on = "many-images",
     .hypothesis = "Adjacent 128-bit loads and stores: fewer instructions, and each sector of the output is sent "
                   "once."},
    register_tile_variant({.sizes = sizes, .kernels = kernels, .many_images = true})};

}  // namespace
}  // namespace convladder
