// Stage 13: tensor cores. The inner product in tf32, 16 maps x 8 pixels x 8 taps in one instruction of a warp.
//
// Up to stage 12 a multiply-add is an instruction of a thread. mma.m16n8k8 (compute capability 8.0) does 1024 of them
// for a warp, on units that are eight times as fast as the ordinary ones, with sums in float32. What it multiplies is
// tf32: float32's range with 10 bits of fraction, to which inputs and weights are rounded on their way to shared
// memory. So the error is one of inputs, 1e-3 of sum |x*w| at most, a class of its own; small integers stay exact. The
// tiles, the table of taps and the gathering are those of stage 11. That relieves the arithmetic units and the issue
// slots: multiplying is no longer what sets the pace.
//
// When it loses: the gathering, half an instruction per multiply-add at 24 maps, is as it was, and now it is the
// bottleneck. Layers of one channel are bound by writing their output, and gain nothing. Where 1e-3 is too much: stage
// 14.
#include <iterator>

#include "variants/convolution/cuda/matrix_tile_variant.hpp"
#include "variants/convolution/cuda/sm_80/tensor_tile.hpp"

namespace convladder {

template <int maps, int pixels>
__global__ void __launch_bounds__(pixels)
    conv_tensor_tf32(const float* x, const float* w, float* y, LayerSizes sizes, MatrixTiling tiling) {
  __shared__ __align__(16) unsigned weights[taps_per_step][tensor_pitch<maps>];
  __shared__ unsigned inputs[taps_per_step][tensor_pitch<pixels>];
  const TensorBlock<maps, pixels> block(x, w, y, sizes, tiling);
  const int thread = static_cast<int>(threadIdx.x);

  TensorTile<SlotType::tf32, maps> tile;
  for (int tap0 = 0; tap0 < tiling.taps; tap0 += taps_per_step) {
    __syncthreads();  // everyone is done with the taps before
#pragma unroll
    for (int k = 0; k < taps_per_step; ++k) inputs[k][thread] = to_tf32(block.column.at(block.places[tap0 + k]));
#pragma unroll
    for (int part = 0; part < taps_per_step * maps / pixels; ++part) {
      const int i = part * pixels + thread;
      weights[i / maps][i % maps] = to_tf32(block.weights[tap0 * maps + i]);
    }
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < taps_per_step; k += 8) {
      tile.template add_product<tensor_pitch<maps>, tensor_pitch<pixels>>(weights[k], &inputs[k][block.warp_pixel]);
    }
  }
  tile.store(block.output, block.plane, block.map_count, block.pixel_count);
}

namespace {

/// A size and its kernel have the same index in both lists.
constexpr MatrixTileSize sizes[] = {{64, 128}, {64, 64}, {32, 128}, {32, 64}};
constexpr MatrixTileKernel kernels[] = {conv_tensor_tf32<64, 128>, conv_tensor_tf32<64, 64>, conv_tensor_tf32<32, 128>,
                                        conv_tensor_tf32<32, 64>};
static_assert(std::size(sizes) == std::size(kernels));

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 13,
     .name = "tensor-tf32",
     .title = "Tensor cores, tf32",
     .builds_on = "implicit-gemm",
     .hypothesis =
         "One instruction of a warp does 1024 multiply-adds in tf32, and gathering becomes the limit instead of "
         "multiplying."},
    matrix_tile_variant({.sizes = sizes, .kernels = kernels, .tolerance = 1e-3})};

}  // namespace
}  // namespace convladder
