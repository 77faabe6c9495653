// Stage 3: shared memory. A block copies the input it needs, and its filter, into shared memory first.
//
// Neighbouring output pixels read the same inputs up to K*K times. Against stage 2, the 16x16 threads of a block now
// fetch the input tile under their pixels once per channel - ((16 - 1) * stride + K) pixels square, halo included -
// with the K*K taps of that channel, and take all K*K products from shared memory. That relieves the global load path:
// for K = 5 and stride 1 it is 400 loads per channel instead of 6400. Padding becomes zeros in the tile, so the test
// for the border leaves the inner loop as well.
//
// When it loses: the L1 of a GPU since Volta is the same memory as shared memory and did much of this already, while
// two barriers per channel, the copying and its index arithmetic are new. Large strides and small filters reuse little
// (K = 1 reuses nothing). Big tiles of shared memory also let fewer blocks stay on a multiprocessor.
#include "variants/convolution/cuda/layer_sizes.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

/// The block is tile x tile threads. Dynamic shared memory: the input tile, then the filter's K*K taps.
__global__ void conv_shared_memory(const float* x, const float* w, float* y, LayerSizes sizes) {
  extern __shared__ float shared[];
  const int tile = static_cast<int>(blockDim.x);
  const int in_tile = (tile - 1) * sizes.stride + sizes.kernel;
  float* x_tile = shared;
  float* filter = shared + in_tile * in_tile;

  const int thread_row = static_cast<int>(threadIdx.y);
  const int thread_column = static_cast<int>(threadIdx.x);
  const int tiles_across = (sizes.out_width - 1) / tile + 1;
  const int row0 = static_cast<int>(blockIdx.z) / tiles_across * tile;
  const int column0 = static_cast<int>(blockIdx.z) % tiles_across * tile;

  const std::size_t image = blockIdx.x;
  const int map = static_cast<int>(blockIdx.y);
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);

  const int first_channel = map / sizes.maps_per_group * sizes.channels_per_group;
  const int taps = sizes.kernel * sizes.kernel;

  float sum = 0.0F;
  for (int channel = 0; channel < sizes.channels_per_group; ++channel) {
    // All threads copy, even those whose output lies outside: the tile is larger than the block. Neighbouring threads
    // fetch neighbouring pixels, so a warp's loads stay in few sectors.
    for (int i = thread_row; i < in_tile; i += tile) {
      const int in_row = row0 * sizes.stride + i - sizes.padding;
      for (int j = thread_column; j < in_tile; j += tile) {
        const int in_column = column0 * sizes.stride + j - sizes.padding;
        const bool inside = in_row >= 0 && in_row < sizes.height && in_column >= 0 && in_column < sizes.width;
        const int pixel = ((first_channel + channel) * sizes.height + in_row) * sizes.width + in_column;
        x_tile[i * in_tile + j] = inside ? x[pixel] : 0.0F;
      }
    }
    for (int tap = thread_row * tile + thread_column; tap < taps; tap += tile * tile) {
      filter[tap] = w[(map * sizes.channels_per_group + channel) * taps + tap];
    }
    __syncthreads();  // the tile is complete before anyone reads it

    for (int p = 0; p < sizes.kernel; ++p) {
#pragma unroll 1  // otherwise nvcc unrolls by four: an idea that stage 5 adds
      for (int q = 0; q < sizes.kernel; ++q) {
        sum += x_tile[(thread_row * sizes.stride + p) * in_tile + thread_column * sizes.stride + q] *
               filter[p * sizes.kernel + q];
      }
    }
    __syncthreads();  // everyone is done with the tile before the next channel overwrites it
  }

  const int row = row0 + thread_row;
  const int column = column0 + thread_column;
  if (row < sizes.out_height && column < sizes.out_width) {
    y[(map * sizes.out_height + row) * sizes.out_width + column] = sum;
  }
}

namespace {

/// Bytes of the input tile under tile x tile output pixels and of one filter plane.
std::size_t shared_bytes(const ConvShape& shape, int tile) {
  const std::size_t in_tile = static_cast<std::size_t>(tile - 1) * static_cast<std::size_t>(shape.stride) +
                              static_cast<std::size_t>(shape.kernel);
  const std::size_t taps = static_cast<std::size_t>(shape.kernel) * static_cast<std::size_t>(shape.kernel);
  return (in_tile * in_tile + taps) * sizeof(float);
}

/// 16, or the next smaller power of two whose tile fits into shared memory; 0 if not even 4 does.
int tile_for(const ConvShape& shape) {
  for (const int tile : {16, 8, 4}) {
    if (shared_bytes(shape, tile) <= max_shared_bytes) return tile;
  }
  return 0;
}

std::string unsupported(const ConvShape& shape) {
  const int tile = tile_for(shape);
  if (tile == 0) return shared_memory_error("the input under 4x4 output pixels and one filter", shared_bytes(shape, 4));
  return grid_error(tiled_grid(shape, tile));
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const int tile = tile_for(shape);
  if (tile == 0) return {};
  const Dim3 block{static_cast<unsigned>(tile), static_cast<unsigned>(tile), 1};
  return {over_items(make_launch(conv_shared_memory, tiled_grid(shape, tile), block, shared_bytes(shape, tile),
                                 tensors.input, tensors.weights, tensors.output, layer_sizes(shape)))};
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 3,
     .name = "shared-memory",
     .title = "Shared memory",
     .builds_on = "local-accumulation",
     .hypothesis = "Each input and filter value is fetched from global memory once per block instead of once per tap, "
                   "at the price of two barriers per channel."},
    cuda_variant(plan, unsupported)};

}  // namespace
}  // namespace convladder
