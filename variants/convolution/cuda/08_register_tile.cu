// Stage 8: register tile. A thread computes several output maps of several neighbouring pixels.
//
// Up to stage 6 a thread has one output, and every multiply-add loads an input and a weight from shared memory: the
// loads, not the arithmetic, set the pace. Here a thread has a tile of, say, 8 maps x 9 pixels in registers. For one
// row of the filters it loads the 9 + 6 inputs under its pixels once; they slide under the seven taps, of which each
// brings its 8 weights in two 128-bit loads. That is 504 multiply-adds for 29 loads instead of 1008. The weights come
// packed for that from `prepare`, with the maps of a block side by side, so that copying them is a straight line too.
// That relieves shared memory and the issue slots: the multiply-adds are nearly all that is left.
//
// Which tile a layer gets is a matter of its sizes: 27 columns are 3 x 9 pixels, 24 are 3 x 8, and a tile that hangs
// over the edge multiplies for nothing. The list below has the sizes that are compiled, and the launch plan counts
// instructions for each of them (register_tiling.cpp).
//
// When it loses: at small batches, where a hundredth of the threads cannot fill a GPU. A thread needs up to 128
// registers, so a multiprocessor holds 16 warps and not 64; each has dozens of independent multiply-adds to hide
// latency instead. Neighbouring threads store pixels that are a whole strip apart, one sector for each of them: stage
// 10 mends that.
#include <iterator>

#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/cuda/register_tile_variant.hpp"

namespace convladder {

/// Dynamic shared memory: the weights of a step, then `channels_per_step` planes of the input under the tile.
template <int kernel, int stride, int maps, int pixels>
__global__ void __launch_bounds__(register_tile_threads, register_tile_blocks)
    conv_register_tile(const float* x, const float* w, float* y, LayerSizes sizes, RegisterTiling tiling) {
  using Tile = SumTile<kernel, stride, maps, pixels>;
  extern __shared__ __align__(16) float shared[];
  const TileBlock<kernel, stride, maps, pixels> block(sizes, tiling);
  float* weights = shared;
  float* inputs = shared + tiling.channels_per_step * block.channel_weights;

  const std::size_t image = blockIdx.x;
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  x += image * static_cast<std::size_t>(sizes.in_channels * in_plane) +
       block.group * sizes.channels_per_group * in_plane;
  y += image * static_cast<std::size_t>(sizes.out_channels * out_plane);
  w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * block.channel_weights;

  Tile tile;
  tile.clear();
  for (int channel0 = 0; channel0 < sizes.channels_per_group; channel0 += tiling.channels_per_step) {
    const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
    __syncthreads();  // everyone is done with the channels before
    copy_input<stride>(x + channel0 * in_plane, inputs, sizes, block, tiling.pitch, channels);
    copy_weights<typename Tile::Weights>(w + channel0 * block.channel_weights, weights,
                                         channels * block.channel_weights);
    __syncthreads();  // inputs and weights are complete before anyone reads them
    if (!block.has_work(tiling)) continue;

    const float* tap_weights = weights + block.map_group * maps;
    const float* window = inputs + block.row * stride * tiling.pitch + block.strip * pixels * stride;
    for (int channel = 0; channel < channels; ++channel) {
      const float* input_row = window + channel * block.plane_rows * tiling.pitch;
#pragma unroll 1  // a row of the filters is enough straight code; all of them would not fit into the instruction cache
      for (int p = 0; p < kernel; ++p) {
        tile.add_row(input_row, tap_weights, block.block_maps);
        input_row += tiling.pitch;
        tap_weights += kernel * block.block_maps;
      }
    }
  }

  const int row = block.row0 + block.row;
  const int column = block.column0 + block.strip * pixels;
  if (!block.has_work(tiling) || row >= sizes.out_height || column >= sizes.out_width) return;
  const int map = block.first_map + block.map_group * maps;
  tile.store(y + (block.group * sizes.maps_per_group + map) * out_plane + row * sizes.out_width + column, out_plane,
             sizes.maps_per_group - map, sizes.out_width - column);
}

namespace {

template <int kernel, int stride, int maps, int pixels>
constexpr RegisterTileKernel instantiation = conv_register_tile<kernel, stride, maps, pixels>;

/// A size and its kernel have the same index in both lists.
constexpr RegisterTileSize sizes[] = {{3, 1, 8, 7, 7}, {3, 2, 8, 4, 4},   {5, 1, 10, 6, 6},
                                      {5, 1, 8, 9, 9}, {5, 1, 6, 11, 11}, {7, 1, 12, 6, 6},
                                      {7, 1, 8, 9, 9}, {7, 1, 4, 16, 16}, {11, 4, 8, 5, 5}};
constexpr RegisterTileKernel kernels[] = {
    instantiation<3, 1, 8, 7>, instantiation<3, 2, 8, 4>,  instantiation<5, 1, 10, 6>,
    instantiation<5, 1, 8, 9>, instantiation<5, 1, 6, 11>, instantiation<7, 1, 12, 6>,
    instantiation<7, 1, 8, 9>, instantiation<7, 1, 4, 16>, instantiation<11, 4, 8, 5>};
static_assert(std::size(sizes) == std::size(kernels));

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 8,
     .name = "register-tile",
     .title = "Register tile",
     .builds_on = "compile-time",
     .hypothesis =
         "With 8 maps x 9 pixels in a thread's registers a load serves eight or nine multiply-adds, not one."},
    register_tile_variant({.sizes = sizes, .kernels = kernels})};

}  // namespace
}  // namespace convladder
