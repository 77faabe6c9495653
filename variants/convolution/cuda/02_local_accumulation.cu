// Stage 2: local accumulation. The sum lives in a register and is stored once.
//
// Against stage 1 only the place of the sum changes: `float sum` instead of `y[output]`. That takes C*K*K - 1 of the
// C*K*K stores per output away, and with them what bound stage 1: the path of stores to the L2. What is left are two
// loads per multiply-add. The loads of w are the same for a whole warp (one broadcast), those of x are neighbours and
// mostly hit the L1, so the load units and the index arithmetic around them are what binds now.
//
// It cannot lose against stage 1: it does strictly less. The next thing to relieve is that neighbouring pixels load
// the same inputs again, K*K times over.
#include "variants/convolution/cuda/layer_sizes.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int local_accumulation_tile = 16;

__global__ void conv_local_accumulation(const float* x, const float* w, float* y, LayerSizes sizes) {
  const int tiles_across = (sizes.out_width - 1) / local_accumulation_tile + 1;
  const int row = static_cast<int>(blockIdx.z) / tiles_across * local_accumulation_tile + static_cast<int>(threadIdx.y);
  const int column =
      static_cast<int>(blockIdx.z) % tiles_across * local_accumulation_tile + static_cast<int>(threadIdx.x);
  if (row >= sizes.out_height || column >= sizes.out_width) return;

  const std::size_t image = blockIdx.x;
  const int map = static_cast<int>(blockIdx.y);
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);

  const int first_channel = map / sizes.maps_per_group * sizes.channels_per_group;

  float sum = 0.0F;  // a register: nothing else can point at it, so nothing forces it to memory
  for (int channel = 0; channel < sizes.channels_per_group; ++channel) {
    for (int p = 0; p < sizes.kernel; ++p) {
#pragma unroll 1  // otherwise nvcc unrolls by four: an idea that stage 5 adds
      for (int q = 0; q < sizes.kernel; ++q) {
        const int in_row = row * sizes.stride + p - sizes.padding;
        const int in_column = column * sizes.stride + q - sizes.padding;
        if (in_row < 0 || in_row >= sizes.height || in_column < 0 || in_column >= sizes.width) continue;
        const int filter_tap = ((map * sizes.channels_per_group + channel) * sizes.kernel + p) * sizes.kernel + q;
        const int pixel = ((first_channel + channel) * sizes.height + in_row) * sizes.width + in_column;
        sum += x[pixel] * w[filter_tap];
      }
    }
  }
  y[(map * sizes.out_height + row) * sizes.out_width + column] = sum;
}

namespace {

std::string unsupported(const ConvShape& shape) { return grid_error(tiled_grid(shape, local_accumulation_tile)); }

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const Dim3 block{local_accumulation_tile, local_accumulation_tile, 1};
  return {over_items(make_launch(conv_local_accumulation, tiled_grid(shape, local_accumulation_tile), block, 0,
                                 tensors.input, tensors.weights, tensors.output, layer_sizes(shape)))};
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 2,
     .name = "local-accumulation",
     .title = "Local accumulation",
     .builds_on = "global-memory",
     .hypothesis = "Summing in a register leaves one store per output instead of one per tap, so loads and index "
                   "arithmetic bind instead of stores."},
    cuda_variant(plan, unsupported)};

}  // namespace
}  // namespace convladder
