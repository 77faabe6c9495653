// Stage 8: register tile. A thread computes several output maps of several neighbouring pixels.
//
// Up to stage 6 a thread has one output, and every multiply-add asks shared memory for an input and a weight: the
// loads, not the arithmetic, set the pace. Here a thread has a tile of, say, 8 maps x 9 pixels in registers. For one
// row of the filters it loads the 9 + 6 inputs under its pixels once; they slide under the seven taps, of which each
// brings its 8 weights in two 128-bit loads. 504 multiply-adds for 29 loads, where it were 1008. The weights come
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

#include "variants/cuda/register_tile_kernel.hpp"
#include "variants/cuda_variant.hpp"

namespace convladder {

/// Dynamic shared memory: the weights of a step, then `channels_per_step` planes of the input under the tile.
template <int kernel, int stride, int maps, int pixels>
__global__ void __launch_bounds__(register_tile_threads, register_tile_blocks)
    conv_register_tile(const float* x, const float* w, float* y, LayerSizes sizes, RegisterTiling tiling) {
  using Tile = SumTile<kernel, stride, maps, pixels>;
  extern __shared__ __align__(16) float shared[];
  const int block_maps = tiling.map_groups * maps;
  const int tile_columns = tiling.strips * pixels;
  const int plane_rows = (tiling.rows - 1) * stride + kernel;
  const int plane_columns = (tile_columns - 1) * stride + kernel;
  const int channel_weights = kernel * kernel * block_maps;
  float* weights = shared;
  float* inputs = shared + tiling.channels_per_step * channel_weights;

  const TilePlace place(sizes, tiling, block_maps, tile_columns);
  const std::size_t image = blockIdx.x;
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  x += image * static_cast<std::size_t>(sizes.in_channels * in_plane) + place.first_channel * in_plane;
  y += image * static_cast<std::size_t>(sizes.out_channels * out_plane);
  w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * channel_weights;

  // Thread number -> (group of maps, row, strip of pixels).
  const int thread = static_cast<int>(threadIdx.x);
  const int strip = thread % tiling.strips;
  const int row = thread / tiling.strips % tiling.rows;
  const int map_group = thread / (tiling.strips * tiling.rows);
  const bool has_work = map_group < tiling.map_groups;

  Tile tile;
  tile.clear();
  for (int channel0 = 0; channel0 < sizes.channels_per_group; channel0 += tiling.channels_per_step) {
    const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
    __syncthreads();  // everyone is done with the channels before
    copy_input<kernel, stride>(x + channel0 * in_plane, inputs, sizes, place.row0, place.column0, plane_rows,
                               plane_columns, tiling.pitch, channels);
    copy_weights<typename Tile::Weights>(w + channel0 * channel_weights, weights, channels * channel_weights);
    __syncthreads();  // inputs and weights are complete before anyone reads them
    if (!has_work) continue;

    const float* tap_weights = weights + map_group * maps;
    const float* window = inputs + row * stride * tiling.pitch + strip * pixels * stride;
    for (int channel = 0; channel < channels; ++channel) {
      const float* input_row = window + channel * plane_rows * tiling.pitch;
#pragma unroll 1  // a row of the filters is enough straight code; all of them would not fit into the instruction cache
      for (int p = 0; p < kernel; ++p) {
        tile.add_row(input_row, tap_weights, block_maps);
        input_row += tiling.pitch;
        tap_weights += kernel * block_maps;
      }
    }
  }

  const int out_row = place.row0 + row;
  const int out_column = place.column0 + strip * pixels;
  if (!has_work || out_row >= sizes.out_height || out_column >= sizes.out_width) return;
  const int map = place.first_map + map_group * maps;
  tile.store(y + (place.group * sizes.maps_per_group + map) * out_plane + out_row * sizes.out_width + out_column,
             out_plane, sizes.maps_per_group - map, sizes.out_width - out_column);
}

namespace {

using Kernel = void (*)(const float*, const float*, float*, LayerSizes, RegisterTiling);

template <int kernel, int stride, int maps, int pixels>
constexpr Kernel instantiation = conv_register_tile<kernel, stride, maps, pixels>;

/// A size and its kernel stand at the same place in both lists.
constexpr RegisterTileSize sizes[] = {{3, 1, 8, 7},  {3, 2, 8, 4}, {5, 1, 10, 6}, {5, 1, 8, 9}, {5, 1, 6, 11},
                                      {7, 1, 12, 6}, {7, 1, 8, 9}, {7, 1, 4, 16}, {11, 4, 8, 5}};
constexpr Kernel kernels[] = {instantiation<3, 1, 8, 7>, instantiation<3, 2, 8, 4>,  instantiation<5, 1, 10, 6>,
                              instantiation<5, 1, 8, 9>, instantiation<5, 1, 6, 11>, instantiation<7, 1, 12, 6>,
                              instantiation<7, 1, 8, 9>, instantiation<7, 1, 4, 16>, instantiation<11, 4, 8, 5>};
static_assert(std::size(sizes) == std::size(kernels));

std::string unsupported(const ConvShape& shape) { return register_tile_error(shape, sizes); }

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const std::optional<RegisterTilePlan> chosen = register_tile_plan(shape, sizes);
  if (!chosen) return {};
  return {make_launch(kernels[chosen->compiled], chosen->grid, chosen->block, chosen->shared_bytes, tensors.input,
                      tensors.weights, tensors.output, layer_sizes(shape), chosen->tiling)};
}

std::vector<float> pack(const ConvShape& shape, const float* weights) {
  return pack_for_register_tile(shape, *register_tile_plan(shape, sizes), weights);
}

std::string choice(const ConvShape& shape) { return register_tile_choice(*register_tile_plan(shape, sizes)); }

const VariantRegistration registration{
    {.family = "cuda",
     .rung = 8,
     .name = "register-tile",
     .title = "Register tile",
     .builds_on = "compile-time",
     .hypothesis =
         "With 8 maps x 9 pixels in a thread's registers a load serves eight or nine multiply-adds, not one."},
    cuda_variant({.plan = plan, .unsupported = unsupported, .pack = pack, .choice = choice})};

}  // namespace
}  // namespace convladder
