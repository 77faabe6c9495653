// The first stage twice more, each with a change that the counter gate has to see: the row of the image shifted by one,
// and one more store for each output. tests/end_to_end/test_baseline.py compares them with the first stage's baseline.
#include "variants/convolution/cuda/layer_sizes.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int moved_counters_tile = 16;

template <int row_shift, bool stores_again>
__global__ void conv_moved(const float* x, const float* w, float* y, LayerSizes sizes) {
  const int tiles_across = (sizes.out_width - 1) / moved_counters_tile + 1;
  const int row = static_cast<int>(blockIdx.z) / tiles_across * moved_counters_tile + static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.z) % tiles_across * moved_counters_tile + static_cast<int>(threadIdx.x);
  if (row >= sizes.out_height || column >= sizes.out_width) return;

  const std::size_t image = blockIdx.x;
  const int map = static_cast<int>(blockIdx.y);
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);

  const int first_channel = map / sizes.maps_per_group * sizes.channels_per_group;
  const int output = (map * sizes.out_height + row) * sizes.out_width + column;

  y[output] = 0.0F;
  for (int channel = 0; channel < sizes.channels_per_group; ++channel) {
    for (int p = 0; p < sizes.kernel; ++p) {
#pragma unroll 1
      for (int q = 0; q < sizes.kernel; ++q) {
        const int in_row = row * sizes.stride + p - sizes.padding + row_shift;
        const int in_column = column * sizes.stride + q - sizes.padding;
        if (in_row < 0 || in_row >= sizes.height || in_column < 0 || in_column >= sizes.width) continue;
        const int filter_tap = ((map * sizes.channels_per_group + channel) * sizes.kernel + p) * sizes.kernel + q;
        const int pixel = ((first_channel + channel) * sizes.height + in_row) * sizes.width + in_column;
        y[output] += x[pixel] * w[filter_tap];
      }
    }
  }
  if (stores_again) y[output] += 0.0F;  // no compiler may drop it: -0 becomes +0
}

namespace {

std::string unsupported(const ConvShape& shape) { return grid_error(tiled_grid(shape, moved_counters_tile)); }

template <int row_shift, bool stores_again>
std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const Dim3 block{moved_counters_tile, moved_counters_tile, 1};
  return {over_items(make_launch(conv_moved<row_shift, stores_again>, tiled_grid(shape, moved_counters_tile), block, 0,
                                 tensors.input, tensors.weights, tensors.output, layer_sizes(shape)))};
}

const VariantRegistration as_it_was{"convolution",
                                    {.family = "cuda",
                                     .rung = 130,
                                     .name = "seeded-nothing-moved",
                                     .title = "As the first stage",
                                     .builds_on = "global-memory",
                                     .hypothesis = "Counts what the first stage counts."},
                                    cuda_variant(plan<0, false>, unsupported)};

const VariantRegistration shifted_row{
    "convolution",
    {.family = "cuda",
     .rung = 131,
     .name = "seeded-shifted-row",
     .title = "Row shifted by one",
     .builds_on = "global-memory",
     .hypothesis = "Counts fewer multiply-adds: the last row of taps falls off the image."},
    cuda_variant(plan<1, false>, unsupported)};

const VariantRegistration stores_again{"convolution",
                                       {.family = "cuda",
                                        .rung = 132,
                                        .name = "seeded-extra-store",
                                        .title = "One store more",
                                        .builds_on = "global-memory",
                                        .hypothesis = "Counts one store more for each output."},
                                       cuda_variant(plan<0, true>, unsupported)};

}  // namespace
}  // namespace convladder
