// Stage 11: implicit GEMM. The convolution as a product of matrices, one of which is gathered as it is needed.
//
// The register tiles of stages 8 to 10 are cut to the rows of an image and compiled for each size of filter. Here the
// filters are a matrix W of maps x taps and the inputs a matrix X of taps x pixels, in which every input stands up to
// K*K times; their product is the output. X would be 49 times the input for a 7x7 filter (see the stage that does store
// it), so a block gathers 16 rows of its tile of X at a time into shared memory, where each serves all maps of the
// block. Which input an element is follows from a table of taps that `prepare` made: no division is left in the loop.
// Any kernel, stride, padding and number of groups runs on the same code, pixels are counted through the rows of a map,
// so that no row hangs over, and the inner product is that of a matrix multiplication: 8 maps x 8 pixels per thread,
// four 128-bit loads for 64 multiply-adds. That removes the dependence on the shape, and is the form that tensor cores
// need.
//
// When it loses: an element of X costs a dozen instructions to gather and serves only the maps of the block. With 24
// maps that is half an instruction for each multiply-add, with 256 it is little. Layers of one channel and few maps are
// for the register tile.
#include <iterator>

#include "variants/convolution/cuda/matrix_tile_kernel.hpp"
#include "variants/convolution/cuda/matrix_tile_variant.hpp"

namespace convladder {

/// A thread computes maps / 8 maps x 8 pixels. `w` comes from `pack_for_matrix_tile`.
template <int maps, int pixels>
__global__ void __launch_bounds__(pixels)
    conv_implicit_gemm(const float* x, const float* w, float* y, LayerSizes sizes, MatrixTiling tiling) {
  constexpr int thread_maps = maps / 8;
  constexpr int half = pixels / 2;
  __shared__ __align__(16) float weights[taps_per_step][maps];
  __shared__ __align__(16) float inputs[taps_per_step][pixels];

  const int thread = static_cast<int>(threadIdx.x);
  const std::size_t image = blockIdx.x;
  const int group = static_cast<int>(blockIdx.y) / tiling.map_tiles;
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  const int first_pixel = static_cast<int>(blockIdx.z) * pixels;
  x += image * static_cast<std::size_t>(sizes.in_channels * in_plane) + group * sizes.channels_per_group * in_plane;
  const InputColumn column(x, sizes, first_pixel + thread);
  const TapPlace* places = reinterpret_cast<const TapPlace*>(w);
  w += tiling.taps * floats_per_tap_place + static_cast<int>(blockIdx.y) * tiling.taps * maps;

  // Four pixels in each half of the tile: neighbouring threads load neighbouring vectors.
  const int thread_pixel = thread % (pixels / 8) * 4;
  const int thread_map = thread / (pixels / 8) * thread_maps;
  float sums[thread_maps][8] = {};

  for (int tap0 = 0; tap0 < tiling.taps; tap0 += taps_per_step) {
    __syncthreads();  // everyone is done with the taps before
#pragma unroll
    for (int k = 0; k < taps_per_step; ++k) inputs[k][thread] = column.at(places[tap0 + k]);
#pragma unroll
    for (int part = 0; part < taps_per_step * maps / (4 * pixels); ++part) {
      const int i = (part * pixels + thread) * 4;
      *reinterpret_cast<float4*>(weights[0] + i) = *reinterpret_cast<const float4*>(w + tap0 * maps + i);
    }
    __syncthreads();  // both tiles are complete before anyone reads them

#pragma unroll
    for (int k = 0; k < taps_per_step; ++k) {
      float tap[thread_maps];
      float pixel[8];
#pragma unroll
      for (int m = 0; m < thread_maps; m += 4) {
        *reinterpret_cast<float4*>(tap + m) = *reinterpret_cast<const float4*>(&weights[k][thread_map + m]);
      }
      *reinterpret_cast<float4*>(pixel) = *reinterpret_cast<const float4*>(&inputs[k][thread_pixel]);
      *reinterpret_cast<float4*>(pixel + 4) = *reinterpret_cast<const float4*>(&inputs[k][half + thread_pixel]);
#pragma unroll
      for (int m = 0; m < thread_maps; ++m) {
#pragma unroll
        for (int i = 0; i < 8; ++i) sums[m][i] += tap[m] * pixel[i];
      }
    }
  }

  const int map = static_cast<int>(blockIdx.y) % tiling.map_tiles * maps + thread_map;
  float* to = y + image * static_cast<std::size_t>(sizes.out_channels * out_plane) +
              (group * sizes.maps_per_group + map) * out_plane + first_pixel + thread_pixel;
  const int rest = out_plane - first_pixel - thread_pixel;
#pragma unroll
  for (int m = 0; m < thread_maps; ++m) {
    if (map + m < sizes.maps_per_group) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int pixel = i / 4 * half + i % 4;
        if (pixel < rest) to[pixel] = sums[m][i];
      }
    }
    to += out_plane;
  }
}

namespace {

/// A size and its kernel have the same index in both lists.
constexpr MatrixTileSize sizes[] = {{64, 128}, {64, 64}, {32, 128}, {32, 64}};
constexpr MatrixTileKernel kernels[] = {conv_implicit_gemm<64, 128>, conv_implicit_gemm<64, 64>,
                                        conv_implicit_gemm<32, 128>, conv_implicit_gemm<32, 64>};
static_assert(std::size(sizes) == std::size(kernels));

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 11,
     .name = "implicit-gemm",
     .title = "Implicit GEMM",
     .builds_on = "register-tile",
     .hypothesis = "As a matrix product, every shape runs at the speed of one inner loop, and wide layers gain most."},
    matrix_tile_variant({.sizes = sizes, .kernels = kernels})};

}  // namespace
}  // namespace convladder
