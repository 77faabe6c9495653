// Stage 16: fragments from the image. The tensor cores take their inputs from an image in shared memory, not from X.
//
// In stages 11 to 15 a block gathers its tile of X: each input is copied up to K*K times, at a dozen instructions for
// each copy, and that is the bottleneck once tensor cores do the multiplying. But X is only a way of reading the image:
// element (tap, pixel) lies at the place of the pixel plus the offset of the tap. So here a block copies the rows of
// input under its pixels once, in tf32, and a lane that needs an element for its fragment adds a pixel's place, which
// it keeps in a register, to a tap's offset, which comes from a table. The weights need no shared memory at all:
// `prepare` rounds them to tf32 and lays them out as the fragments want them, so that a fragment of 16 maps x 8 taps is
// one 128-bit load, the same for all blocks. That relieves the issue slots: a third of an instruction is left for each
// multiply-add on lenet72's second layer, a sixth on AlexNet's.
//
// When it loses: layers with a single channel are bound by their output, whoever multiplies. A warp needs 32 pixels and
// 16 maps to be full: 4 maps leave it at a quarter. Rows of input that are too wide for shared memory are refused.
#include "variants/convolution/cuda/sm_80/tensor_image.hpp"
#include "variants/convolution/cuda/tensor_image_variant.hpp"

namespace convladder {

/// `w` comes from `pack_for_tensor_image`. Dynamic shared memory: the planes of input of a step.
template <int maps>
__global__ void __launch_bounds__(256, 2)
    conv_tensor_image(const float* x, const float* w, float* y, LayerSizes sizes, TensorImageTiling tiling) {
  extern __shared__ unsigned image[];
  TensorTile<SlotType::tf32, maps> tile;
  ImageBlock<maps, 1> block(x, w, sizes, tiling);
  for (int step = 0; step < tiling.steps; ++step) {
    __syncthreads();  // everyone is done with the channels before
    block.copy_image(image, sizes, tiling, step);
    __syncthreads();  // the image is complete before anyone reads it
    for (int fragment = 0; fragment < tiling.fragments; ++fragment) {
      const int2 offset = *block.offsets;
      unsigned b[tile.pixel_tiles][2];
      block.load_inputs(image, offset, b);
#pragma unroll
      for (int i = 0; i < maps / 16; ++i) {
        unsigned a[4];
        load_weights(block.weights + i * 32, a);
#pragma unroll
        for (int j = 0; j < tile.pixel_tiles; ++j) multiply_matrices<SlotType::tf32>(tile.sums[i][j], a, b[j]);
      }
      block.offsets += 4;
      block.weights += maps / 16 * 1 * 32;
    }
  }
  block.store(tile, y, sizes);
}

namespace {

TensorImageKernel kernel_for(int maps) {
  if (maps == 64) return conv_tensor_image<64>;
  return maps == 32 ? conv_tensor_image<32> : conv_tensor_image<16>;
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 16,
     .name = "tensor-image",
     .title = "Tensor cores, fragments from the image",
     .builds_on = "tensor-tf32",
     .hypothesis =
         "Inputs are copied once instead of once per tap, and a fragment costs an addition for each element."},
    tensor_image_variant({.kernel_for = kernel_for, .parts = Tf32Parts::one, .tolerance = 1e-3})};

}  // namespace
}  // namespace convladder
