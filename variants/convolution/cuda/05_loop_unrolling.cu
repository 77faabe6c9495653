// Stage 5: loop unrolling. The taps of a filter row are multiplied five at a time.
//
// In stage 4 a tap is two loads from shared memory and one multiply-add, and around them a comparison, a branch and the
// steps of two addresses. Here only a #pragma unroll on the innermost loop is new: the counting is paid once for five
// taps, their addresses become constant offsets in the load instructions, and ten loads are under way before the first
// multiply-add waits for one. That relieves the issue slots and hides the latency of shared memory. Five, because that
// is a whole row of a 5x5 filter and leaves 2 of 7 and 1 of 11 over. The size of the filter is known at run time only,
// so the compiler adds code with a test per tap for the rest.
//
// When it loses: rows shorter than five run through the tests alone. nvcc unrolls such loops by four when nobody says
// anything, so against a stage 4 without its `#pragma unroll 1` the gain is small.
#include "variants/convolution/cuda/map_loop_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int unrolled_taps = 5;

/// Dynamic shared memory: `channels_per_step` planes of input under the tile, then the filters of the step.
__global__ void __launch_bounds__(max_threads_per_block)  // otherwise the compiler may use too many registers
    conv_loop_unrolling(const float* x, const float* w, float* y, LayerSizes sizes, MapLoopTiling tiling) {
  extern __shared__ float shared[];
  const int plane_rows = (tiling.rows - 1) * sizes.stride + sizes.kernel;
  const int plane_columns = (tiling.columns - 1) * sizes.stride + sizes.kernel;
  const int plane = plane_rows * plane_columns;
  const int taps = sizes.kernel * sizes.kernel;
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
  const float* window = x_tile + row * sizes.stride * plane_columns + column * sizes.stride;

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
              const int in_row = row0 * sizes.stride + i % plane / plane_columns - sizes.padding;
              const int in_column = column0 * sizes.stride + i % plane_columns - sizes.padding;
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
            for (int p = 0; p < sizes.kernel; ++p) {
#pragma unroll unrolled_taps
              for (int q = 0; q < sizes.kernel; ++q) {
                sum += window[channel * plane + p * plane_columns + q] * filter[channel * taps + p * sizes.kernel + q];
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

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const std::optional<MapLoopPlan> chosen = map_loop_plan(shape);
  if (!chosen) return {};
  return {
      over_items(make_launch(conv_loop_unrolling, chosen->grid, Dim3{max_threads_per_block, 1, 1}, chosen->shared_bytes,
                             tensors.input, tensors.weights, tensors.output, layer_sizes(shape), chosen->tiling))};
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 5,
     .name = "loop-unrolling",
     .title = "Loop unrolling",
     .builds_on = "block-remap",
     .hypothesis =
         "Five taps per iteration of the innermost loop share its counter, branch and addresses, and their loads "
         "overlap."},
    cuda_variant(plan, map_loop_error)};

}  // namespace
}  // namespace convladder
