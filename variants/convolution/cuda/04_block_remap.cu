// Stage 4: block remap. A block is 1024x1x1 threads, and its threads are dealt out to output pixels one after another.
//
// A square block wastes what hangs over the edge: 16x16 blocks on a map of 24x24 pixels keep 56% of their threads busy,
// and the idle ones sit in every warp. Against stage 3 the 1024 threads of a block are numbered 0 to 1023 and assigned
// to the pixels of whole rows, and on into the next output maps while there are threads left: with three tiles of 8x24
// pixels and 5 maps each that is 960 of 1024 threads, and the idle ones are whole warps that cost nothing. The grid is
// (B, 1, 1): one block per image, with the loop over the output maps inside. So the input, once in shared memory,
// serves all maps of the image if its channels fit, and global memory is asked for it once instead of M times. That
// relieves issue slots (idle lanes), the L2 and the copying loop.
//
// When it loses: at small batches B blocks cannot fill a GPU; the launch plan then spreads the maps over the grid,
// (B, M, 1), and gives up the reuse of the input. Layers with many channels do not fit into 48 KB either; they are
// walked through in parts and copied again for every step of maps. A block of 1024 threads waits for its slowest warp.
#include "variants/convolution/cuda/map_loop_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

/// Dynamic shared memory: `channels_per_step` planes of input under the tile, then the filters of the step.
__global__ void __launch_bounds__(max_threads_per_block)  // otherwise the compiler may use too many registers
    conv_block_remap(const float* x, const float* w, float* y, LayerSizes sizes, MapLoopTiling tiling) {
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
#pragma unroll 1  // otherwise nvcc unrolls by four: an idea that stage 5 adds
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
      over_items(make_launch(conv_block_remap, chosen->grid, Dim3{max_threads_per_block, 1, 1}, chosen->shared_bytes,
                             tensors.input, tensors.weights, tensors.output, layer_sizes(shape), chosen->tiling))};
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 4,
     .name = "block-remap",
     .title = "1-D block remap",
     .builds_on = "shared-memory",
     .hypothesis = "1024 threads dealt out to output pixels leave no idle lanes at the edges, and one block per image "
                   "with the loop over the maps inside copies the input once instead of once per map."},
    cuda_variant(plan, map_loop_error)};

}  // namespace
}  // namespace convladder
