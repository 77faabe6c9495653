// Stage 12: asynchronous copies. While a block multiplies one step's tiles, the next step's are on their way.
//
// In stage 11 a block gathers, waits, multiplies, waits: while it gathers nothing is multiplied, and every element
// passes through a register on its way to shared memory. Here there are two of each tile. cp.async (compute
// capability 8.0) copies the next 16 taps into one of them past the registers, with zeros for the padding, while the
// block multiplies the other; one wait and two barriers per step order it. That relieves registers and hides the
// latency of global memory even when few blocks are on a multiprocessor.
//
// When it loses: a copy of 4 bytes is an instruction of its own, and X is gathered float by float. Twice the shared
// memory. Where many blocks share a multiprocessor they hide each other's waiting already.
#include <iterator>

#include "variants/convolution/cuda/matrix_tile_kernel.hpp"
#include "variants/convolution/cuda/matrix_tile_variant.hpp"
#include "variants/convolution/cuda/sm_80/asynchronous_copy.hpp"

namespace convladder {

/// Starts the copies of one step: a column of 16 inputs for each thread, and the weights from `w` on, in fours.
template <int maps, int pixels>
__device__ __forceinline__ void start_copies(const TapPlace* places, const InputColumn& column, const float* w,
                                             float (&inputs)[taps_per_step][pixels],
                                             float (&weights)[taps_per_step][maps]) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int k = 0; k < taps_per_step; ++k) {
    const TapPlace tap = places[k];
    const bool exists = column.has(tap);
    copy_float_async(&inputs[k][thread], exists ? column.first + tap.offset : column.image, exists);
  }
#pragma unroll
  for (int part = 0; part < taps_per_step * maps / (4 * pixels); ++part) {
    const int i = (part * pixels + thread) * 4;
    copy_vector_async<float4>(weights[0] + i, w + i);
  }
}

/// A thread computes maps / 8 maps x 8 pixels. `w` comes from `pack_for_matrix_tile`.
template <int maps, int pixels>
__global__ void __launch_bounds__(pixels)
    conv_asynchronous_copies(const float* x, const float* w, float* y, LayerSizes sizes, MatrixTiling tiling) {
  constexpr int thread_maps = maps / 8;
  constexpr int half = pixels / 2;
  __shared__ __align__(16) float weights[2][taps_per_step][maps];
  __shared__ __align__(16) float inputs[2][taps_per_step][pixels];

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

  start_copies(places, column, w, inputs[0], weights[0]);
  commit_copies();
  int buffer = 0;
  for (int tap0 = 0; tap0 < tiling.taps; tap0 += taps_per_step) {
    const int next = tap0 + taps_per_step;
    if (next < tiling.taps) {
      start_copies(places + next, column, w + next * maps, inputs[1 - buffer], weights[1 - buffer]);
    }
    commit_copies();       // an empty group at the end, so that the count is right
    wait_for_copies<1>();  // this step's copies have arrived, the next step's may still be on their way
    __syncthreads();       // everybody's copies have arrived

#pragma unroll
    for (int k = 0; k < taps_per_step; ++k) {
      float tap[thread_maps];
      float pixel[8];
#pragma unroll
      for (int m = 0; m < thread_maps; m += 4) {
        *reinterpret_cast<float4*>(tap + m) = *reinterpret_cast<const float4*>(&weights[buffer][k][thread_map + m]);
      }
      *reinterpret_cast<float4*>(pixel) = *reinterpret_cast<const float4*>(&inputs[buffer][k][thread_pixel]);
      *reinterpret_cast<float4*>(pixel + 4) = *reinterpret_cast<const float4*>(&inputs[buffer][k][half + thread_pixel]);
#pragma unroll
      for (int m = 0; m < thread_maps; ++m) {
#pragma unroll
        for (int i = 0; i < 8; ++i) sums[m][i] += tap[m] * pixel[i];
      }
    }
    __syncthreads();  // everyone is done with this buffer before it is filled again
    buffer = 1 - buffer;
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
constexpr MatrixTileKernel kernels[] = {conv_asynchronous_copies<64, 128>, conv_asynchronous_copies<64, 64>,
                                        conv_asynchronous_copies<32, 128>, conv_asynchronous_copies<32, 64>};
static_assert(std::size(sizes) == std::size(kernels));

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 12,
     .name = "asynchronous-copies",
     .title = "Asynchronous copies, double buffered",
     .builds_on = "implicit-gemm",
     .hypothesis = "The next tiles arrive while the present ones are multiplied, so that few warps suffice to hide the "
                   "latency of memory."},
    matrix_tile_variant({.sizes = sizes, .kernels = kernels})};

}  // namespace
}  // namespace convladder
