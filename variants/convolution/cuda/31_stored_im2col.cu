// Stage 31, a known loser: stored im2col. The matrix X of stage 11 is written to global memory and read from there.
//
// This is how convolutions came to matrix multiplication: one kernel copies each input to the K*K places it has in X
// (taps x pixels), another multiplies W by X like any two matrices. Against stage 11 the product has no gathering in
// it, only whole rows of X, and the gathering has a kernel of its own. What it costs is X: for a 7x7 filter 49 times
// the input, written once and read once for every tile of maps, where stage 11 kept 16 rows of one tile in shared
// memory.
//
// When it loses: at few channels and maps, where there is little arithmetic for each byte of X: lenet72's first layer
// moves 49 floats twice to compute 12. It is at its best on wide layers with small filters, and at 1x1, where X is the
// input itself. X of a batch has to fit into memory: beyond 4 GiB it is refused.
#include <cstdint>

#include "variants/convolution/cuda/matrix_tile_kernel.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int im2col_threads = 128;
constexpr int im2col_maps = 32;     // maps of a block of the product
constexpr int im2col_pixels = 128;  // pixels of such a block, and of a copying block, with a thread for each

/// Writes X of every image: [group * tap][pixel]. A block has 128 pixels of one tap.
__global__ void conv_stored_im2col_gather(const float* x, const float* w, float* matrix, LayerSizes sizes,
                                          MatrixTiling tiling) {
  const int plane = sizes.out_height * sizes.out_width;
  const int pixel = static_cast<int>(blockIdx.z * blockDim.x + threadIdx.x);
  const int group = static_cast<int>(blockIdx.y) / tiling.taps;
  const int tap = static_cast<int>(blockIdx.y) % tiling.taps;
  if (pixel >= plane) return;
  x += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width) +
       group * sizes.channels_per_group * sizes.height * sizes.width;
  const InputColumn column(x, sizes, pixel);
  matrix += (static_cast<std::size_t>(blockIdx.x) * gridDim.y + blockIdx.y) * static_cast<std::size_t>(plane);
  matrix[pixel] = column.at(reinterpret_cast<const TapPlace*>(w)[tap]);
}

/// y = W * X, 32 maps x 128 pixels in a block and 4 x 8 in a thread.
__global__ void __launch_bounds__(im2col_threads, 4)
    conv_stored_im2col_product(const float* matrix, const float* w, float* y, LayerSizes sizes, MatrixTiling tiling) {
  __shared__ __align__(16) float weights[taps_per_step][im2col_maps];
  __shared__ __align__(16) float inputs[taps_per_step][im2col_pixels];
  const int thread = static_cast<int>(threadIdx.x);
  const int plane = sizes.out_height * sizes.out_width;
  const int group = static_cast<int>(blockIdx.y) / tiling.map_tiles;
  const int groups = static_cast<int>(gridDim.y) / tiling.map_tiles;
  const int first_pixel = static_cast<int>(blockIdx.z) * im2col_pixels;
  matrix += (static_cast<std::size_t>(blockIdx.x) * static_cast<unsigned>(groups) + static_cast<unsigned>(group)) *
                static_cast<std::size_t>(tiling.taps) * static_cast<std::size_t>(plane) +
            first_pixel;
  w += tiling.taps * floats_per_tap_place + static_cast<int>(blockIdx.y) * tiling.taps * im2col_maps;
  const int thread_pixel = thread % (im2col_pixels / 8) * 4;
  const int thread_map = thread / (im2col_pixels / 8) * 4;

  float sums[4][8] = {};
  for (int tap0 = 0; tap0 < tiling.taps; tap0 += taps_per_step) {
    __syncthreads();  // everyone is done with the taps before
#pragma unroll
    for (int k = 0; k < taps_per_step; ++k) {
      const bool exists = first_pixel + thread < plane;
      inputs[k][thread] =
          exists ? matrix[static_cast<std::size_t>(tap0 + k) * static_cast<unsigned>(plane) + thread] : 0.0F;
    }
    *reinterpret_cast<float4*>(weights[0] + thread * 4) =
        *reinterpret_cast<const float4*>(w + tap0 * im2col_maps + thread * 4);
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < taps_per_step; ++k) {
      float tap[4];
      float pixel[8];
      *reinterpret_cast<float4*>(tap) = *reinterpret_cast<const float4*>(&weights[k][thread_map]);
      *reinterpret_cast<float4*>(pixel) = *reinterpret_cast<const float4*>(&inputs[k][thread_pixel]);
      *reinterpret_cast<float4*>(pixel + 4) =
          *reinterpret_cast<const float4*>(&inputs[k][im2col_pixels / 2 + thread_pixel]);
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int i = 0; i < 8; ++i) sums[m][i] += tap[m] * pixel[i];
      }
    }
  }

  const int map = static_cast<int>(blockIdx.y) % tiling.map_tiles * im2col_maps + thread_map;
  float* to = y + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.out_channels * plane) +
              (group * sizes.maps_per_group + map) * plane + first_pixel + thread_pixel;
  const int rest = plane - first_pixel - thread_pixel;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int pixel = i / 4 * (im2col_pixels / 2) + i % 4;
      if (map + m < sizes.maps_per_group && pixel < rest) to[m * plane + pixel] = sums[m][i];
    }
  }
}

namespace {

constexpr MatrixTileSize sizes[] = {{im2col_maps, im2col_pixels}};
static_assert(taps_per_step * im2col_maps == 4 * im2col_threads && im2col_pixels == im2col_threads);

std::size_t matrix_bytes(const ConvShape& shape) {
  const auto taps = static_cast<std::size_t>(matrix_tile_plan(shape, sizes).tiling.taps);
  return static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(shape.groups) * taps *
         static_cast<std::size_t>(shape.out_height() * shape.out_width()) * sizeof(float);
}

Dim3 gather_grid(const ConvShape& shape, const MatrixTilePlan& plan) {
  return {plan.grid.x, static_cast<unsigned>(shape.groups * plan.tiling.taps), plan.grid.z};
}

std::string unsupported(const ConvShape& shape) {
  constexpr std::size_t kMost = std::size_t{4} << 30;
  if (matrix_bytes(shape) > kMost) {
    return "the matrix of the batch takes " + std::to_string(matrix_bytes(shape) >> 20) + " MiB, more than " +
           std::to_string(kMost >> 20);
  }
  const std::string reason = matrix_tile_error(shape, sizes);
  return reason.empty() ? grid_error(gather_grid(shape, matrix_tile_plan(shape, sizes))) : reason;
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const MatrixTilePlan chosen = matrix_tile_plan(shape, sizes);
  return {over_items(make_launch(conv_stored_im2col_gather, gather_grid(shape, chosen), {im2col_threads, 1, 1}, 0,
                                 tensors.input, tensors.weights, tensors.workspace, layer_sizes(shape), chosen.tiling)),
          over_items(make_launch(conv_stored_im2col_product, chosen.grid, chosen.block, 0, tensors.workspace,
                                 tensors.weights, tensors.output, layer_sizes(shape), chosen.tiling))};
}

std::vector<float> pack(const ConvShape& shape, const float* weights) {
  return pack_for_matrix_tile(shape, matrix_tile_plan(shape, sizes), weights);
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 31,
     .name = "stored-im2col",
     .title = "Stored im2col (known loser)",
     .builds_on = "implicit-gemm",
     .hypothesis = "A known loser at few channels: the matrix is up to K*K times the input, and is written and read "
                   "again."},
    cuda_variant({.plan = plan, .unsupported = unsupported, .pack = pack, .workspace = matrix_bytes, .suits = false})};

}  // namespace
}  // namespace convladder
