// Stage 9: many images per block. A block computes its tile of several images, one behind the other.
//
// In stage 8 every block copies the weights into shared memory, computes one tile of one image and goes. For a layer of
// one channel that is much ado for little: 1250 weights for 784 pixels on lenet28. Here a block walks over two or four
// images, and where the filters of all channels fit into one step they are copied once and stay; the block's own start
// and its index arithmetic are paid once too. Each input is still loaded exactly once. That relieves the L2, which
// hands out the weights, and the issue slots.
//
// When it loses: it needs batches that can spare the blocks: below `images_that_fill_a_gpu` some multiprocessors stay
// empty. Where the channels take several steps (lenet72's second layer) the weights are copied for every image as
// before, and nothing is gained. A batch that four or two do not divide runs as in stage 8.
#include <iterator>

#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/cuda/register_tile_variant.hpp"

namespace convladder {

/// Dynamic shared memory: the weights of a step, then `channels_per_step` planes of the input under the tile.
template <int kernel, int stride, int maps, int pixels>
__global__ void __launch_bounds__(register_tile_threads, register_tile_blocks)
    conv_many_images(const float* x, const float* w, float* y, LayerSizes sizes, RegisterTiling tiling) {
  using Tile = SumTile<kernel, stride, maps, pixels>;
  extern __shared__ __align__(16) float shared[];
  const TileBlock<kernel, stride, maps, pixels> block(sizes, tiling);
  float* weights = shared;
  float* inputs = shared + tiling.channels_per_step * block.channel_weights;

  const std::size_t first_image = static_cast<std::size_t>(blockIdx.x) * static_cast<unsigned>(tiling.images_per_block);
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  const int in_image = sizes.in_channels * in_plane;
  const int out_image = sizes.out_channels * out_plane;
  x += first_image * static_cast<std::size_t>(in_image) + block.group * sizes.channels_per_group * in_plane;
  w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * block.channel_weights;

  const bool weights_stay = tiling.channels_per_step >= sizes.channels_per_group;
  const int row = block.row0 + block.row;
  const int column = block.column0 + block.strip * pixels;
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
      const float* window = inputs + block.row * stride * tiling.pitch + block.strip * pixels * stride;
      for (int channel = 0; channel < channels; ++channel) {
        const float* input_row = window + channel * block.plane_rows * tiling.pitch;
#pragma unroll 1  // a row of the filters is enough straight code
        for (int p = 0; p < kernel; ++p) {
          tile.add_row(input_row, tap_weights, block.block_maps);
          input_row += tiling.pitch;
          tap_weights += kernel * block.block_maps;
        }
      }
    }
    if (has_output) tile.store(y, out_plane, sizes.maps_per_group - map, sizes.out_width - column);
    x += in_image;
    y += out_image;
  }
}

namespace {

template <int kernel, int stride, int maps, int pixels>
constexpr RegisterTileKernel instantiation = conv_many_images<kernel, stride, maps, pixels>;

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
     .rung = 9,
     .name = "many-images",
     .title = "Many images per block",
     .builds_on = "register-tile",
     .hypothesis = "Weights that are copied once for several images leave the L2 and the issue slots to the images."},
    register_tile_variant({.sizes = sizes, .kernels = kernels, .many_images = true})};

}  // namespace
}  // namespace convladder
