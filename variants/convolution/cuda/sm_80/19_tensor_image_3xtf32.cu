// Stage 19: nearly float32 from the image. The three products of stage 14 on the fragments of stage 16.
//
// Stage 14 splits each number into two of tf32 and multiplies three times, but gathers each input up to K*K times as
// stage 13 does, twice as much of it. Here the split image lies in shared memory, its two parts one behind the other,
// and the split weights come in fragments from `prepare`. For each product of 16 maps x 8 taps x 8 pixels there are
// three instructions where stage 16 has one, and the additions that find an element serve both of its parts. So
// accuracy near that of float32, 4e-6 of sum |x*w|, costs two thirds of an instruction per multiply-add on lenet72's
// second layer, where stage 8 needs more than one.
//
// When it loses: against stage 16 wherever 1e-3 is enough. Two images leave room for half the channels. The limits of
// stage 16 hold: layers with few maps leave a warp half empty, layers with one channel are bound by their output.
#include "variants/convolution/cuda/sm_80/tensor_image.hpp"
#include "variants/convolution/cuda/tensor_image_variant.hpp"

namespace convladder {

/// `w` comes from `pack_for_tensor_image`. Dynamic shared memory: the planes of input of a step, twice.
template <int maps>
__global__ void __launch_bounds__(256, 2)
    conv_tensor_image_3xtf32(const float* x, const float* w, float* y, LayerSizes sizes, TensorImageTiling tiling) {
  extern __shared__ unsigned image[];
  TensorTile<SlotType::tf32, maps> tile;
  ImageBlock<maps, 2> block(x, w, sizes, tiling);
  for (int step = 0; step < tiling.steps; ++step) {
    __syncthreads();  // everyone is done with the channels before
    block.copy_image(image, sizes, tiling, step);
    __syncthreads();  // the image is complete before anyone reads it
    for (int fragment = 0; fragment < tiling.fragments; ++fragment) {
      const int2 offset = *block.offsets;
      unsigned b[2][tile.pixel_tiles][2];
      block.load_inputs(image, offset, b[0]);
      block.load_inputs(image + block.part_floats, offset, b[1]);
#pragma unroll
      for (int i = 0; i < maps / 16; ++i) {
        unsigned a[2][4];
        load_weights(block.weights + i * 64, a[0]);
        load_weights(block.weights + i * 64 + 32, a[1]);
#pragma unroll
        for (int product = 0; product < 3; ++product) {  // the small products first
#pragma unroll
          for (int j = 0; j < tile.pixel_tiles; ++j) {
            multiply_matrices<SlotType::tf32>(tile.sums[i][j], a[product == 0], b[product == 1][j]);
          }
        }
      }
      block.offsets += 4;
      block.weights += maps / 16 * 2 * 32;
    }
  }
  block.store(tile, y, sizes);
}

namespace {

TensorImageKernel kernel_for(int maps) {
  if (maps == 64) return conv_tensor_image_3xtf32<64>;
  return maps == 32 ? conv_tensor_image_3xtf32<32> : conv_tensor_image_3xtf32<16>;
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 19,
     .name = "tensor-image-3xtf32",
     .title = "Tensor cores, 3xTF32 from the image",
     .builds_on = "tensor-image",
     .hypothesis = "Three products of split numbers take three instructions of a warp, and locating their inputs costs "
                   "no more than for one."},
    tensor_image_variant({.kernel_for = kernel_for, .parts = Tf32Parts::two, .tolerance = 4e-6})};

}  // namespace
}  // namespace convladder
