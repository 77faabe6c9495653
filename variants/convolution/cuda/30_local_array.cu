// Stage 30, a known loser: local array. A thread keeps the sums of all output maps of its pixel in an array.
//
// The idea is sound: against stage 2 each input is loaded once for all maps instead of once for each, and nothing needs
// shared memory. It fails in its means. The number of maps is known at run time only, so the array is indexed by a
// loop's counter, and registers cannot be indexed: the array lies in local memory, which is global memory by another
// name. Each multiply-add then loads its sum and stores it again, as stage 1 did, now through the L1. It shows what the
// register tile of stage 8 is careful about: all its loops over the tile are unrolled, so that every sum has a name.
//
// When it loses: always; the counters of local memory say how much. Beyond 64 maps it is refused, because the array has
// a size.
#include "variants/convolution/cuda/layer_sizes.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int local_array_threads = 128;
constexpr int local_array_maps = 64;

__global__ void conv_local_array(const float* x, const float* w, float* y, LayerSizes sizes) {
  const int pixels = sizes.out_height * sizes.out_width;
  const int pixel = static_cast<int>(blockIdx.z * blockDim.x + threadIdx.x);
  if (pixel >= pixels) return;
  const int row = pixel / sizes.out_width;
  const int column = pixel % sizes.out_width;

  const std::size_t image = blockIdx.x;
  const int group = static_cast<int>(blockIdx.y);
  const int taps = sizes.channels_per_group * sizes.kernel * sizes.kernel;
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width) +
       group * sizes.channels_per_group * sizes.height * sizes.width;
  y += image * static_cast<std::size_t>(sizes.out_channels * pixels) + group * sizes.maps_per_group * pixels + pixel;
  w += group * sizes.maps_per_group * taps;

  float sums[local_array_maps];
  for (int map = 0; map < sizes.maps_per_group; ++map) sums[map] = 0.0F;
  for (int channel = 0; channel < sizes.channels_per_group; ++channel) {
    for (int p = 0; p < sizes.kernel; ++p) {
      for (int q = 0; q < sizes.kernel; ++q) {
        const int in_row = row * sizes.stride + p - sizes.padding;
        const int in_column = column * sizes.stride + q - sizes.padding;
        if (in_row < 0 || in_row >= sizes.height || in_column < 0 || in_column >= sizes.width) continue;
        const float input = x[(channel * sizes.height + in_row) * sizes.width + in_column];
        const float* filters = w + (channel * sizes.kernel + p) * sizes.kernel + q;
        for (int map = 0; map < sizes.maps_per_group; ++map) sums[map] += input * filters[map * taps];
      }
    }
  }
  for (int map = 0; map < sizes.maps_per_group; ++map) y[map * pixels] = sums[map];
}

namespace {

Dim3 grid_of(const ConvShape& shape) {
  return {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.groups),
          static_cast<unsigned>(ceil_div(shape.out_height() * shape.out_width(), local_array_threads))};
}

std::string unsupported(const ConvShape& shape) {
  if (shape.maps_per_group() > local_array_maps) {
    return "the array has room for " + std::to_string(local_array_maps) + " output maps of a group, the layer has " +
           std::to_string(shape.maps_per_group());
  }
  return grid_error(grid_of(shape));
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  if (shape.maps_per_group() > local_array_maps) return {};
  return {over_items(make_launch(conv_local_array, grid_of(shape), {local_array_threads, 1, 1}, 0, tensors.input,
                                 tensors.weights, tensors.output, layer_sizes(shape)))};
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 30,
     .name = "local-array",
     .title = "Local array of all outputs (known loser)",
     .builds_on = "local-accumulation",
     .hypothesis = "A known loser: an array that a loop indexes is in memory, and every multiply-add loads and stores "
                   "its sum."},
    cuda_variant({.plan = plan, .unsupported = unsupported, .suits = false})};

}  // namespace
}  // namespace convladder
