// Stage 7: uniform weights. All threads of a block work at the same output map, and a weight is one address for all.
//
// In stages 4 to 6 the threads of a block are dealt out over several maps, and every multiply-add loads an input and a
// weight from shared memory, into which both were copied. Here a thread has one pixel and walks over the maps. At
// any time all lanes of a warp want the same weight: such a load is answered from the read-only cache with one sector
// for the warp, the address is the same in all lanes, and nothing has to be copied, waited for or made room for. It is
// what constant memory is for, without its 64 KB and without a copy into it before each launch. That halves the traffic
// of shared memory, and frees it for the input, of which all channels have to fit.
//
// When it loses: it is still one load of each kind for a multiply-add. Maps with few pixels leave threads without work.
// Layers of many channels (AlexNet's fourth and fifth) do not fit and are refused.
#include <algorithm>

#include "variants/cuda/map_loop_tiling.hpp"
#include "variants/cuda_variant.hpp"

namespace convladder {

/// The pixels of a block, a thread for each.
struct UniformTiling {
  int rows;
  int columns;
  int map_slice;   ///< output maps of a block
  int map_slices;  ///< that a group's maps are divided into
};

/// Dynamic shared memory: the input of all channels under the tile.
template <int kernel, int stride>
__global__ void __launch_bounds__(max_threads_per_block)
    conv_uniform_weights(const float* x, const float* __restrict__ w, float* y, LayerSizes sizes,
                         UniformTiling tiling) {
  extern __shared__ float x_tile[];
  const int plane_rows = (tiling.rows - 1) * stride + kernel;
  const int plane_columns = (tiling.columns - 1) * stride + kernel;
  const int plane = plane_rows * plane_columns;
  constexpr int taps = kernel * kernel;
  const int channels = sizes.channels_per_group;

  const std::size_t image = blockIdx.x;
  const int group = static_cast<int>(blockIdx.y) / tiling.map_slices;
  const int first_map = static_cast<int>(blockIdx.y) % tiling.map_slices * tiling.map_slice;
  const int end_map = min(first_map + tiling.map_slice, sizes.maps_per_group);
  const int tiles_across = (sizes.out_width - 1) / tiling.columns + 1;
  const int row0 = static_cast<int>(blockIdx.z) / tiles_across * tiling.rows;
  const int column0 = static_cast<int>(blockIdx.z) % tiles_across * tiling.columns;
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);
  x += group * channels * sizes.height * sizes.width;
  w += group * sizes.maps_per_group * channels * taps;
  y += group * sizes.maps_per_group * sizes.out_height * sizes.out_width;

  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < channels * plane; i += static_cast<int>(blockDim.x)) {
    const int in_row = row0 * stride + i % plane / plane_columns - sizes.padding;
    const int in_column = column0 * stride + i % plane_columns - sizes.padding;
    const bool inside = in_row >= 0 && in_row < sizes.height && in_column >= 0 && in_column < sizes.width;
    const int pixel = (i / plane * sizes.height + in_row) * sizes.width + in_column;
    x_tile[i] = inside ? x[pixel] : 0.0F;
  }
  __syncthreads();  // the input is complete before anyone reads it; nothing is written there again

  const int row = thread / tiling.columns;
  const int column = thread % tiling.columns;
  if (row >= tiling.rows || row0 + row >= sizes.out_height || column0 + column >= sizes.out_width) return;
  const float* window = x_tile + row * stride * plane_columns + column * stride;
  for (int map = first_map; map < end_map; ++map) {
    const float* filter = w + map * channels * taps;
    float sum = 0.0F;
    for (int channel = 0; channel < channels; ++channel) {
#pragma unroll
      for (int p = 0; p < kernel; ++p) {
#pragma unroll
        for (int q = 0; q < kernel; ++q) {
          sum += window[channel * plane + p * plane_columns + q] * __ldg(filter + channel * taps + p * kernel + q);
        }
      }
    }
    y[(map * sizes.out_height + row0 + row) * sizes.out_width + column0 + column] = sum;
  }
}

namespace {

using Kernel = void (*)(const float*, const float*, float*, LayerSizes, UniformTiling);

struct Instantiation {
  int kernel;
  int stride;
  Kernel function;
};

constexpr Instantiation instantiations[] = {
    {3, 1, conv_uniform_weights<3, 1>}, {3, 2, conv_uniform_weights<3, 2>},   {5, 1, conv_uniform_weights<5, 1>},
    {7, 1, conv_uniform_weights<7, 1>}, {11, 4, conv_uniform_weights<11, 4>},
};

Kernel instantiation_for(const ConvShape& shape) {
  for (const Instantiation& instantiation : instantiations) {
    if (instantiation.kernel == shape.kernel && instantiation.stride == shape.stride) return instantiation.function;
  }
  return nullptr;
}

std::size_t input_bytes(const ConvShape& shape, int rows, int columns) {
  const auto extent = [&](int pixels) { return static_cast<std::size_t>((pixels - 1) * shape.stride + shape.kernel); };
  return static_cast<std::size_t>(shape.channels_per_group()) * extent(rows) * extent(columns) * sizeof(float);
}

bool fits(const ConvShape& shape, int rows, int columns) {
  return rows * columns <= max_threads_per_block && input_bytes(shape, rows, columns) <= max_shared_bytes;
}

/// Whole rows, as many as fit; then no more in a tile than the number of tiles needs. 0 rows if not even one fits.
UniformTiling tiling_for(const ConvShape& shape) {
  const int columns = std::min(shape.out_width(), max_threads_per_block);
  int rows = shape.out_height();
  while (rows > 0 && !fits(shape, rows, columns)) --rows;
  if (rows > 0) rows = ceil_div(shape.out_height(), ceil_div(shape.out_height(), rows));
  // At small batches a few maps per block, so that there are more blocks.
  constexpr int kFewMaps = 8;
  const int slice =
      shape.batch >= images_that_fill_a_gpu ? shape.maps_per_group() : std::min(kFewMaps, shape.maps_per_group());
  return {rows, columns, slice, ceil_div(shape.maps_per_group(), slice)};
}

Dim3 grid_of(const ConvShape& shape, const UniformTiling& tiling) {
  const int tiles = ceil_div(shape.out_height(), tiling.rows) * ceil_div(shape.out_width(), tiling.columns);
  return {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.groups * tiling.map_slices),
          static_cast<unsigned>(tiles)};
}

std::string unsupported(const ConvShape& shape) {
  if (instantiation_for(shape) == nullptr) {
    std::string compiled;
    for (const Instantiation& instantiation : instantiations) {
      compiled += (compiled.empty() ? "" : ", ") + std::to_string(instantiation.kernel) + "/" +
                  std::to_string(instantiation.stride);
    }
    return "kernel " + std::to_string(shape.kernel) + " with stride " + std::to_string(shape.stride) +
           " is not among the compiled ones (kernel/stride): " + compiled;
  }
  const UniformTiling tiling = tiling_for(shape);
  if (tiling.rows == 0) {
    return shared_memory_error("all channels of the input under one row of output",
                               input_bytes(shape, 1, tiling.columns));
  }
  return grid_error(grid_of(shape, tiling));
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const UniformTiling tiling = tiling_for(shape);
  if (instantiation_for(shape) == nullptr || tiling.rows == 0) return {};
  const auto threads = static_cast<unsigned>(ceil_div(tiling.rows * tiling.columns, 32) * 32);
  return {make_launch(instantiation_for(shape), grid_of(shape, tiling), {threads, 1, 1},
                      input_bytes(shape, tiling.rows, tiling.columns), tensors.input, tensors.weights, tensors.output,
                      layer_sizes(shape), tiling)};
}

const VariantRegistration registration{
    {.family = "cuda",
     .rung = 7,
     .name = "uniform-weights",
     .title = "Uniform weights",
     .builds_on = "compile-time",
     .hypothesis =
         "A weight that all lanes want at once needs neither a copy nor shared memory, which has half as much "
         "to do."},
    cuda_variant(plan, unsupported)};

}  // namespace
}  // namespace convladder
