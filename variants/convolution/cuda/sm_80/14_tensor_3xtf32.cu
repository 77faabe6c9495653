// Stage 14: three products in tf32 for nearly float32. Every number is split into two of tf32 that add up to it.
//
// Stage 13 rounds inputs and weights to 11 significant bits and loses the other 13. Here a number is h + l, with h its
// nearest tf32 and l that of the rest, which together hold 22 bits or more. Of the product (h + l)(H + L) the three
// larger parts are computed, the small ones first: l*H, h*L, h*H. What is left out, l*L, is below 2^-22 of the product,
// so the error is that of float32 arithmetic within a small factor: 4e-6 of sum |x*w| is asked for, a class of its own.
// Against stage 13 it takes three times the matrix products and twice the shared memory, and tensor cores have that to
// spare.
//
// When it loses: against stage 13 wherever its accuracy suffices; against stages 8 to 10 where layers are bound by
// bytes.
#include <iterator>

#include "variants/convolution/cuda/matrix_tile_variant.hpp"
#include "variants/convolution/cuda/sm_80/tensor_tile.hpp"

namespace convladder {

template <int maps, int pixels>
__global__ void __launch_bounds__(pixels)
    conv_tensor_3xtf32(const float* x, const float* w, float* y, LayerSizes sizes, MatrixTiling tiling) {
  // [0] holds the nearest tf32, [1] that of the rest.
  __shared__ unsigned weights[2][taps_per_step][tensor_pitch<maps>];
  __shared__ unsigned inputs[2][taps_per_step][tensor_pitch<pixels>];
  const TensorBlock<maps, pixels> block(x, w, y, sizes, tiling);
  const int thread = static_cast<int>(threadIdx.x);

  TensorTile<SlotType::tf32, maps> tile;
  for (int tap0 = 0; tap0 < tiling.taps; tap0 += taps_per_step) {
    __syncthreads();  // everyone is done with the taps before
#pragma unroll
    for (int k = 0; k < taps_per_step; ++k) {
      const float value = block.column.at(block.places[tap0 + k]);
      inputs[0][k][thread] = to_tf32(value);
      inputs[1][k][thread] = to_tf32(value - __uint_as_float(to_tf32(value)));
    }
#pragma unroll
    for (int part = 0; part < taps_per_step * maps / pixels; ++part) {
      const int i = part * pixels + thread;
      const float value = block.weights[tap0 * maps + i];
      weights[0][i / maps][i % maps] = to_tf32(value);
      weights[1][i / maps][i % maps] = to_tf32(value - __uint_as_float(to_tf32(value)));
    }
    __syncthreads();  // all tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < taps_per_step; k += 8) {
#pragma unroll
      for (int product = 0; product < 3; ++product) {
        tile.template add_product<tensor_pitch<maps>, tensor_pitch<pixels>>(weights[product == 0][k],
                                                                            &inputs[product == 1][k][block.warp_pixel]);
      }
    }
  }
  tile.store(block.output, block.plane, block.map_count, block.pixel_count);
}

namespace {

/// A size and its kernel have the same index in both lists.
constexpr MatrixTileSize sizes[] = {{64, 128}, {64, 64}, {32, 128}, {32, 64}};
constexpr MatrixTileKernel kernels[] = {conv_tensor_3xtf32<64, 128>, conv_tensor_3xtf32<64, 64>,
                                        conv_tensor_3xtf32<32, 128>, conv_tensor_3xtf32<32, 64>};
static_assert(std::size(sizes) == std::size(kernels));

const VariantRegistration registration{"convolution",
                                       {.family = "cuda",
                                        .rung = 14,
                                        .name = "tensor-3xtf32",
                                        .title = "Tensor cores, 3xTF32",
                                        .builds_on = "tensor-tf32",
                                        .hypothesis = "Three products of split numbers come close to float32 accuracy "
                                                      "and still need fewer instructions than float32 multiply-adds."},
                                       matrix_tile_variant({.sizes = sizes, .kernels = kernels, .tolerance = 4e-6})};

}  // namespace
}  // namespace convladder
