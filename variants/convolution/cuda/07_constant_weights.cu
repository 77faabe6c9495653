// Stage 7: weights in constant memory. All threads of a block work at the same output map, whose weights are constants.
//
// In stages 4 to 6 the threads of a block are dealt out over several maps, and every multiply-add loads an input and a
// weight from shared memory, into which both were copied. Here a thread has one pixel and walks over the maps. At
// any time all lanes of a warp need the same weight, and constant memory is made for this: its cache serves one
// address at a time, for all lanes that want it. Nothing has to be copied by the threads, waited for or made room for,
// and no load goes through the pipe of global and shared memory. That halves the traffic of shared memory, and frees it
// for the input, of which all channels have to fit.
//
// A module has 64 KiB of constants. A `__constant__` array is one for all launches, so each launch has the weights of
// its maps copied into it first, in the same stream and within the op time. Where a layer's weights do not fit, its
// maps are cut into several launches, one behind the other.
//
// When it loses: it is still one load of each kind for a multiply-add. The copy before each launch is a few
// microseconds, which small batches feel. Maps with few pixels leave threads without work, and layers that take dozens
// of launches (AlexNet's from the second on) load their inputs again for each. Layers of many channels (AlexNet's
// fourth and fifth) do not fit and are refused.
#include <algorithm>

#include "variants/convolution/cuda/map_loop_tiling.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int constant_floats = 64 * 1024 / sizeof(float);  // all that a module has

/// The weights of one launch, OIHW from the first of its maps on.
__constant__ float constant_weights[constant_floats];

/// The pixels of a block, a thread for each, and the maps of a launch: all of several groups, or some of one.
struct ConstantTiling {
  int rows;
  int columns;
  int first_group;
  int first_map;  ///< counted in its group
  int end_map;
  int map_slice;   ///< output maps of a block
  int map_slices;  ///< slices that the launch's maps of a group are divided into
};

/// Dynamic shared memory: the input of all channels under the tile.
template <int kernel, int stride>
__global__ void __launch_bounds__(max_threads_per_block)
    conv_constant_weights(const float* x, float* y, LayerSizes sizes, ConstantTiling tiling) {
  extern __shared__ float x_tile[];
  const int plane_rows = (tiling.rows - 1) * stride + kernel;
  const int plane_columns = (tiling.columns - 1) * stride + kernel;
  const int plane = plane_rows * plane_columns;
  constexpr int taps = kernel * kernel;
  const int channels = sizes.channels_per_group;

  const std::size_t image = blockIdx.x;
  const int group = tiling.first_group + static_cast<int>(blockIdx.y) / tiling.map_slices;
  const int first_map = tiling.first_map + static_cast<int>(blockIdx.y) % tiling.map_slices * tiling.map_slice;
  const int end_map = min(first_map + tiling.map_slice, tiling.end_map);
  const int tiles_across = (sizes.out_width - 1) / tiling.columns + 1;
  const int row0 = static_cast<int>(blockIdx.z) / tiles_across * tiling.rows;
  const int column0 = static_cast<int>(blockIdx.z) % tiles_across * tiling.columns;
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);
  x += group * channels * sizes.height * sizes.width;
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
  const int maps_before = (group - tiling.first_group) * sizes.maps_per_group + first_map - tiling.first_map;
  const float* filter = constant_weights + maps_before * channels * taps;
  for (int map = first_map; map < end_map; ++map) {
    float sum = 0.0F;
    for (int channel = 0; channel < channels; ++channel) {
#pragma unroll
      for (int p = 0; p < kernel; ++p) {
#pragma unroll
        for (int q = 0; q < kernel; ++q) {
          sum += window[channel * plane + p * plane_columns + q] * filter[p * kernel + q];
        }
      }
      filter += taps;
    }
    y[(map * sizes.out_height + row0 + row) * sizes.out_width + column0 + column] = sum;
  }
}

namespace {

using Kernel = void (*)(const float*, float*, LayerSizes, ConstantTiling);

struct Instantiation {
  int kernel;
  int stride;
  Kernel function;
};

constexpr Instantiation instantiations[] = {
    {3, 1, conv_constant_weights<3, 1>}, {3, 2, conv_constant_weights<3, 2>},   {5, 1, conv_constant_weights<5, 1>},
    {7, 1, conv_constant_weights<7, 1>}, {11, 4, conv_constant_weights<11, 4>},
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

int floats_per_map(const ConvShape& shape) { return shape.channels_per_group() * shape.kernel * shape.kernel; }

/// Tiles of whole rows, as many as fit; then no more rows in a tile than the number of tiles needs. 0 rows if not even
/// one fits.
ConstantTiling tiling_for(const ConvShape& shape) {
  const int columns = std::min(shape.out_width(), max_threads_per_block);
  int rows = shape.out_height();
  while (rows > 0 && !fits(shape, rows, columns)) --rows;
  if (rows > 0) rows = ceil_div(shape.out_height(), ceil_div(shape.out_height(), rows));
  return {rows, columns, 0, 0, shape.maps_per_group(), 1, 1};
}

/// The maps of each launch: all of them if their weights fit, otherwise as many of a group as do.
std::vector<ConstantTiling> tilings_for(const ConvShape& shape) {
  ConstantTiling tiling = tiling_for(shape);
  if (tiling.rows == 0) return {};
  // The weights of a map are fewer than the inputs under a row of pixels, which fit into shared memory.
  static_assert(max_shared_bytes <= sizeof constant_weights);
  const int fitting = constant_floats / floats_per_map(shape);
  // At small batches a few maps per block, so that there are more blocks.
  constexpr int kFewMaps = 8;
  const auto divide = [&](ConstantTiling& of_launch) {
    const int maps = of_launch.end_map - of_launch.first_map;
    of_launch.map_slice = shape.batch >= images_that_fill_a_gpu ? maps : std::min(kFewMaps, maps);
    of_launch.map_slices = ceil_div(maps, of_launch.map_slice);
  };
  std::vector<ConstantTiling> tilings;
  if (shape.out_channels <= fitting) {
    divide(tiling);
    return {tiling};
  }
  for (tiling.first_group = 0; tiling.first_group < shape.groups; ++tiling.first_group) {
    for (int map = 0; map < shape.maps_per_group(); map += fitting) {
      tiling.first_map = map;
      tiling.end_map = std::min(map + fitting, shape.maps_per_group());
      divide(tiling);
      tilings.push_back(tiling);
    }
  }
  return tilings;
}

/// The host's address of a device variable: nvcc accepts references to it in host code, but does not give its address.
template <typename Variable>
const void* host_address(const Variable& variable) {
  return &variable;
}

int groups_of(const ConvShape& shape, std::size_t launches) { return launches == 1 ? shape.groups : 1; }

Dim3 grid_of(const ConvShape& shape, const ConstantTiling& tiling, int groups) {
  const int tiles = ceil_div(shape.out_height(), tiling.rows) * ceil_div(shape.out_width(), tiling.columns);
  return {static_cast<unsigned>(shape.batch), static_cast<unsigned>(groups * tiling.map_slices),
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
  const ConstantTiling tiling = tiling_for(shape);
  if (tiling.rows == 0) {
    return shared_memory_error("all channels of the input under one row of output",
                               input_bytes(shape, 1, tiling.columns));
  }
  const std::vector<ConstantTiling> tilings = tilings_for(shape);
  return grid_error(grid_of(shape, tilings.front(), groups_of(shape, tilings.size())));
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  if (instantiation_for(shape) == nullptr) return {};
  const std::vector<ConstantTiling> tilings = tilings_for(shape);
  std::vector<KernelLaunch> launches;
  for (const ConstantTiling& tiling : tilings) {
    const int groups = groups_of(shape, tilings.size());
    const auto threads = static_cast<unsigned>(ceil_div(tiling.rows * tiling.columns, 32) * 32);
    launches.push_back(over_items(make_launch(instantiation_for(shape), grid_of(shape, tiling, groups), {threads, 1, 1},
                                              input_bytes(shape, tiling.rows, tiling.columns), tensors.input,
                                              tensors.output, layer_sizes(shape), tiling)));
    const int first_map = tiling.first_group * shape.maps_per_group() + tiling.first_map;
    const auto map_floats = static_cast<std::size_t>(floats_per_map(shape));
    // Without a device there are no weights yet.
    const float* const from =
        tensors.weights == nullptr ? nullptr : tensors.weights + static_cast<std::size_t>(first_map) * map_floats;
    const int maps = groups * (tiling.end_map - tiling.first_map);
    launches.back().variables = {
        {host_address(constant_weights), from, static_cast<std::size_t>(maps) * map_floats * sizeof(float)}};
  }
  return launches;
}

std::string choice(const ConvShape& shape) {
  const std::size_t launches = tilings_for(shape).size();
  return launches == 1 ? "" : std::to_string(launches) + " launches, the weights of each in constant memory";
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 7,
     .name = "constant-weights",
     .title = "Weights in constant memory",
     .builds_on = "compile-time",
     .hypothesis = "A weight that all lanes need at once comes from the constant cache, so shared memory has half as "
                   "much to do."},
    cuda_variant({.plan = plan, .unsupported = unsupported, .choice = choice})};

}  // namespace
}  // namespace convladder
