// Stage 6: compile-time constants. Kernel size and stride are template parameters.
//
// Against stage 5 the compiler now knows how many taps there are and where they lie. Both tap loops unroll completely,
// without a remainder; no counter is left. Addresses of filter taps are constant offsets from one pointer, those of a
// row of inputs too, so that several filter taps may come in one wide load. Divisions by K*K and multiplications by the
// stride turn into shifts and multiply-adds. That relieves the issue slots once more, in favour of the multiply-adds
// themselves. The sizes of image and tile stay run-time values: they only matter in the copying loop and outside the
// loops over taps, and constants for them would need an instantiation per layer.
//
// When it loses: code of K*K taps has to fit into the instruction cache, which an 11x11 filter strains, and every
// combination is compiled for every architecture. Shapes beyond the list below are refused.
#include "variants/convolution/cuda/map_loop_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

/// Dynamic shared memory: `channels_per_step` planes of input under the tile, then the filters of the step.
template <int kernel, int stride>
__global__ void __launch_bounds__(max_threads_per_block)  // or the compiler may use more registers than 1024 can have
    conv_compile_time(const float* x, const float* w, float* y, LayerSizes sizes, MapLoopTiling tiling) {
  extern __shared__ float shared[];
  const int plane_rows = (tiling.rows - 1) * stride + kernel;
  const int plane_columns = (tiling.columns - 1) * stride + kernel;
  const int plane = plane_rows * plane_columns;
  constexpr int taps = kernel * kernel;
  const int channels = sizes.channels_per_group;
  float* x_tile = shared;
  float* filters = shared + tiling.channels_per_step * plane;

  const std::size_t image = blockIdx.x;
  const int group = static_cast<int>(blockIdx.z);
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);
  x += group * channels * sizes.height * sizes.width;
  w += group * sizes.maps_per_group * channels * taps;
  y += group * sizes.maps_per_group * sizes.out_height * sizes.out_width;

  // The remap: thread number -> (output map of the step, row, column of the tile), the same in every step.
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const int column = thread % tiling.columns;
  const int row = thread / tiling.columns % tiling.rows;
  const int thread_map = thread / (tiling.columns * tiling.rows);
  const float* window = x_tile + row * stride * plane_columns + column * stride;

  const int first_map = static_cast<int>(blockIdx.y) * tiling.maps_per_block;
  const int end_map = min(first_map + tiling.maps_per_block, sizes.maps_per_group);

  for (int row0 = 0; row0 < sizes.out_height; row0 += tiling.rows) {
    for (int column0 = 0; column0 < sizes.out_width; column0 += tiling.columns) {
      for (int map0 = first_map; map0 < end_map; map0 += tiling.maps_per_step) {
        const int step_maps = min(tiling.maps_per_step, end_map - map0);
        float sum = 0.0F;
        for (int channel0 = 0; channel0 < channels; channel0 += tiling.channels_per_step) {
          const int step_channels = min(tiling.channels_per_step, channels - channel0);
          __syncthreads();  // everyone is done with the contents of shared memory from the last step

          // If all channels fit, the input of this tile is copied for its first maps and stays for the others.
          if (map0 == first_map || step_channels < channels) {
            for (int i = thread; i < step_channels * plane; i += threads) {
              const int in_row = row0 * stride + i % plane / plane_columns - sizes.padding;
              const int in_column = column0 * stride + i % plane_columns - sizes.padding;
              const bool inside = in_row >= 0 && in_row < sizes.height && in_column >= 0 && in_column < sizes.width;
              const int pixel = ((channel0 + i / plane) * sizes.height + in_row) * sizes.width + in_column;
              x_tile[i] = inside ? x[pixel] : 0.0F;
            }
          }
          const int step_taps = step_channels * taps;
          for (int i = thread; i < step_maps * step_taps; i += threads) {
            filters[i] = w[((map0 + i / step_taps) * channels + channel0) * taps + i % step_taps];
          }
          __syncthreads();  // input and filters are complete before anyone reads them

          if (thread_map >= step_maps) continue;  // threads that are left over, and maps beyond the last
          const float* filter = filters + thread_map * step_taps;
          for (int channel = 0; channel < step_channels; ++channel) {
#pragma unroll
            for (int p = 0; p < kernel; ++p) {
#pragma unroll
              for (int q = 0; q < kernel; ++q) {
                sum += window[channel * plane + p * plane_columns + q] * filter[channel * taps + p * kernel + q];
              }
            }
          }
        }
        // The last tiles of a map reach beyond its edge: threads there computed on zeros.
        if (thread_map < step_maps && row0 + row < sizes.out_height && column0 + column < sizes.out_width) {
          y[((map0 + thread_map) * sizes.out_height + row0 + row) * sizes.out_width + column0 + column] = sum;
        }
      }
    }
  }
}

namespace {

using Kernel = void (*)(const float*, const float*, float*, LayerSizes, MapLoopTiling);

struct Instantiation {
  int kernel;
  int stride;
  Kernel function;
};

/// Filters of 3, 5, 7 and 11 as the networks have them, and the pointwise 1x1, with the strides used beside them.
constexpr Instantiation instantiations[] = {
    {1, 1, conv_compile_time<1, 1>},   {1, 2, conv_compile_time<1, 2>}, {3, 1, conv_compile_time<3, 1>},
    {3, 2, conv_compile_time<3, 2>},   {5, 1, conv_compile_time<5, 1>}, {5, 2, conv_compile_time<5, 2>},
    {7, 1, conv_compile_time<7, 1>},   {7, 2, conv_compile_time<7, 2>}, {11, 1, conv_compile_time<11, 1>},
    {11, 4, conv_compile_time<11, 4>},
};

Kernel instantiation_for(const ConvShape& shape) {
  for (const Instantiation& instantiation : instantiations) {
    if (instantiation.kernel == shape.kernel && instantiation.stride == shape.stride) return instantiation.function;
  }
  return nullptr;
}

std::string unsupported(const ConvShape& shape) {
  if (instantiation_for(shape) != nullptr) return map_loop_error(shape);
  std::string compiled;
  for (const Instantiation& instantiation : instantiations) {
    compiled += (compiled.empty() ? "" : ", ") + std::to_string(instantiation.kernel) + "/" +
                std::to_string(instantiation.stride);
  }
  return "kernel " + std::to_string(shape.kernel) + " with stride " + std::to_string(shape.stride) +
         " is not among the compiled ones (kernel/stride): " + compiled;
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const Kernel function = instantiation_for(shape);
  const std::optional<MapLoopPlan> chosen = map_loop_plan(shape);
  if (function == nullptr || !chosen) return {};
  return {over_items(make_launch(function, chosen->grid, Dim3{max_threads_per_block, 1, 1}, chosen->shared_bytes,
                                 tensors.input, tensors.weights, tensors.output, layer_sizes(shape), chosen->tiling))};
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 6,
     .name = "compile-time",
     .title = "Compile-time constants",
     .builds_on = "loop-unrolling",
     .hypothesis = "With kernel size and stride known to the compiler all taps unroll into loads at constant offsets "
                   "and multiply-adds, and nothing else."},
    cuda_variant(plan, unsupported)};

}  // namespace
}  // namespace convladder
