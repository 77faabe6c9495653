// Stage 1: global memory. Every tap adds to the output directly in global memory.
//
// This is the convolution as its formula reads: one thread per output pixel, and for each of its C*K*K taps
//   y[b, m, oh, ow] += x[...] * w[...]
// A block covers 16x16 pixels of one output map of one image; the grid is (image, output map, tile).
//
// What it costs: the compiler cannot keep the sum in a register, because y might overlap x or w (nothing says that it
// does not). It does see that what it loads from y is what it just stored, so it drops that load; one store per tap
// stays. The stage is therefore bound by stores: C*K*K of them for each output where one would do. Multiplications are
// the smallest part. It never wins. It is the first stage of the ladder, and all others are compared with it.
#include "variants/convolution/cuda/layer_sizes.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int global_memory_tile = 16;

__global__ void conv_global_memory(const float* x, const float* w, float* y, LayerSizes sizes) {
  const int tiles_across = (sizes.out_width - 1) / global_memory_tile + 1;
  const int row = static_cast<int>(blockIdx.z) / tiles_across * global_memory_tile + static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.z) % tiles_across * global_memory_tile + static_cast<int>(threadIdx.x);
  // The last tile of a row or column of tiles may reach beyond the output map.
  if (row >= sizes.out_height || column >= sizes.out_width) return;

  // A whole batch can exceed 2^31 elements, one image cannot: the step to the image takes 64 bits, indices inside it
  // 32.
  const std::size_t image = blockIdx.x;
  const int map = static_cast<int>(blockIdx.y);
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);

  const int first_channel = map / sizes.maps_per_group * sizes.channels_per_group;
  const int output = (map * sizes.out_height + row) * sizes.out_width + column;

  y[output] = 0.0F;  // the sum starts in memory too
  for (int channel = 0; channel < sizes.channels_per_group; ++channel) {
    for (int p = 0; p < sizes.kernel; ++p) {
#pragma unroll 1  // otherwise nvcc unrolls by four: an idea that stage 5 adds
      for (int q = 0; q < sizes.kernel; ++q) {
        const int in_row = row * sizes.stride + p - sizes.padding;
        const int in_column = column * sizes.stride + q - sizes.padding;
        // Padding is never stored: a tap outside the image adds nothing.
        if (in_row < 0 || in_row >= sizes.height || in_column < 0 || in_column >= sizes.width) continue;
        const int filter_tap = ((map * sizes.channels_per_group + channel) * sizes.kernel + p) * sizes.kernel + q;
        const int pixel = ((first_channel + channel) * sizes.height + in_row) * sizes.width + in_column;
        y[output] += x[pixel] * w[filter_tap];
      }
    }
  }
}

namespace {

std::string unsupported(const ConvShape& shape) { return grid_error(tiled_grid(shape, global_memory_tile)); }

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const Dim3 block{global_memory_tile, global_memory_tile, 1};
  return {over_items(make_launch(conv_global_memory, tiled_grid(shape, global_memory_tile), block, 0, tensors.input,
                                 tensors.weights, tensors.output, layer_sizes(shape)))};
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 1,
     .name = "global-memory",
     .title = "Global memory",
     .builds_on = "",
     .hypothesis =
         "The first stage: it adds every tap to the output in global memory, so it is limited by one store per "
         "tap."},
    cuda_variant(plan, unsupported)};

}  // namespace
}  // namespace convladder
