// Stage 15: half precision. Inputs and weights in 16 bits, two taps in each register, sums in float32.
//
// Against stage 13 a slot of the fragments holds two neighbouring taps: mma.m16n8k16 does twice the multiply-adds, and
// the tiles take half of the shared memory. Half precision has tf32's 10 bits of fraction, so the error is of the same
// class, 1e-3 of sum |x*w|, but a range that ends at 65504: pixels of 0 to 255 and activations are far inside, numbers
// below 6e-5 lose bits. That relieves the tensor cores and shared memory once more.
//
// When it loses: tensors stay float32 in global memory, as all stages' are, so that the traffic is the same, and the
// gathering still sets the pace. Inputs beyond 65504 become infinite.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "variants/convolution/cuda/matrix_tile_variant.hpp"
#include "variants/convolution/cuda/sm_80/tensor_tile.hpp"

namespace convladder {

/// `w` comes from `pack_for_matrix_tile`, followed by the factor of each map's sums.
template <int maps, int pixels>
__global__ void __launch_bounds__(pixels)
    conv_tensor_half(const float* x, const float* w, float* y, LayerSizes sizes, MatrixTiling tiling) {
  constexpr int pairs = taps_per_step / 2;
  __shared__ unsigned weights[pairs][tensor_pitch<maps>];
  __shared__ unsigned inputs[pairs][tensor_pitch<pixels>];
  const TensorBlock<maps, pixels> block(x, w, y, sizes, tiling);
  const int thread = static_cast<int>(threadIdx.x);

  TensorTile<SlotType::half_pair, maps> tile;
  for (int tap0 = 0; tap0 < tiling.taps; tap0 += taps_per_step) {
    __syncthreads();  // everyone is done with the taps before
#pragma unroll
    for (int k = 0; k < pairs; ++k) {
      inputs[k][thread] =
          to_half_pair(block.column.at(block.places[tap0 + 2 * k]), block.column.at(block.places[tap0 + 2 * k + 1]));
    }
#pragma unroll
    for (int part = 0; part < pairs * maps / pixels; ++part) {
      const int i = part * pixels + thread;
      const float* const first = block.weights + (tap0 + i / maps * 2) * maps + i % maps;
      weights[i / maps][i % maps] = to_half_pair(first[0], first[maps]);
    }
    __syncthreads();  // both tiles are complete before anyone reads them
    tile.template add_product<tensor_pitch<maps>, tensor_pitch<pixels>>(weights[0], &inputs[0][block.warp_pixel]);
  }
  const int all_weights = static_cast<int>(gridDim.y) * tiling.taps * maps;
  tile.scale(w + tiling.taps * floats_per_tap_place + all_weights + static_cast<int>(blockIdx.y) * maps);
  tile.store(block.output, block.plane, block.map_count, block.pixel_count);
}

namespace {

/// A size and its kernel have the same index in both lists.
constexpr MatrixTileSize sizes[] = {{64, 128}, {64, 64}, {32, 128}, {32, 64}};
constexpr MatrixTileKernel kernels[] = {conv_tensor_half<64, 128>, conv_tensor_half<64, 64>, conv_tensor_half<32, 128>,
                                        conv_tensor_half<32, 64>};
static_assert(std::size(sizes) == std::size(kernels));

/// The power of two that scales the largest of `count` weights to between 1/2 and 1; 1 if all are 0.
float scale_of(const float* weights, int count) {
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(weights[i]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0F, -std::clamp(exponent, -100, 100));
}

std::vector<float> pack(const ConvShape& shape, const MatrixTilePlan& chosen, const float* weights) {
  const int taps = shape.channels_per_group() * shape.kernel * shape.kernel;
  const int tiled_maps = chosen.tiling.map_tiles * chosen.size.maps;
  std::vector<float> scaled(weights, weights + shape.weight_elements());
  std::vector<float> divisors(static_cast<std::size_t>(shape.groups * tiled_maps), 1.0F);
  for (int map = 0; map < shape.out_channels; ++map) {
    float* const filter = scaled.data() + std::int64_t{map} * taps;
    const float scale = scale_of(filter, taps);
    std::for_each(filter, filter + taps, [scale](float& weight) { weight *= scale; });
    const int place = map / shape.maps_per_group() * tiled_maps + map % shape.maps_per_group();
    divisors[static_cast<std::size_t>(place)] = 1.0F / scale;
  }
  std::vector<float> packed = pack_for_matrix_tile(shape, chosen, scaled.data());
  packed.insert(packed.end(), divisors.begin(), divisors.end());
  return packed;
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 15,
     .name = "tensor-half",
     .title = "Tensor cores, half precision",
     .builds_on = "tensor-tf32",
     .hypothesis = "Two taps in a register halve the matrix products and the traffic of shared memory."},
    matrix_tile_variant({.sizes = sizes, .kernels = kernels, .tolerance = 1e-3, .pack = pack})};

}  // namespace
}  // namespace convladder
