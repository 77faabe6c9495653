// Stage 17: shuffle cache. A warp keeps rows of the input in its registers, and its lanes hand them to each other.
//
// In stage 8 inputs go to shared memory so that neighbouring threads can share them. A warp can do without: here lane l
// loads column l of 32 neighbouring columns, each row once, straight from global memory, and the input that is q
// columns further is in a register of lane l + q, from where a shuffle brings it. A thread has 8 rows x 4 maps of its
// column; the 8 + K - 1 inputs above one another that it has or gets serve all rows and maps: (8 + K - 1) shuffles for
// 32 K multiply-adds. Only the weights are in shared memory, four maps to a load. That relieves shared memory, needs no
// barrier between the input and its use, and lets every warp go at its own pace.
//
// When it loses: the last K - 1 lanes have no neighbour to ask, so 26 or 28 of 32 lanes have an output; and the output
// has to be cut into such strips: 27 columns take two of 26, and half of the lanes work for nothing, 24 columns
// one of 28. A shuffle goes through the same pipe as a load from shared memory. Strides other than 1 are refused.
#include <algorithm>
#include <iterator>

#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

constexpr int shuffle_rows = 8;
constexpr int shuffle_maps = 4;
constexpr int shuffle_most_warps = 8;
constexpr unsigned all_lanes = 0xffffffffU;

/// The work of a block: each warp has a strip of columns and `shuffle_rows` rows; the warps have rows one below
/// another. `w` is packed as for the register tile, with `shuffle_maps` maps in a map block.
struct ShuffleTiling {
  int map_blocks;  ///< blocks that a group's output maps are divided into
  int channels_per_step;
};

/// Dynamic shared memory: the weights of a step, [channel][p][q][map].
template <int kernel>
__global__ void __launch_bounds__(shuffle_most_warps * 32)
    conv_shuffle_cache(const float* x, const float* w, float* y, LayerSizes sizes, ShuffleTiling tiling) {
  constexpr int outputs = 32 - (kernel - 1);  // lanes that have an output
  constexpr int in_rows = shuffle_rows + kernel - 1;
  constexpr int channel_weights = kernel * kernel * shuffle_maps;
  extern __shared__ __align__(16) float weights[];

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int strips = (sizes.out_width - 1) / outputs + 1;
  const int column = static_cast<int>(blockIdx.z) % strips * outputs + lane;
  const int row0 =
      (static_cast<int>(blockIdx.z) / strips * static_cast<int>(blockDim.x / 32) + static_cast<int>(threadIdx.x) / 32) *
      shuffle_rows;
  const int group = static_cast<int>(blockIdx.y) / tiling.map_blocks;
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  x += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.in_channels * in_plane) +
       group * sizes.channels_per_group * in_plane;
  w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * channel_weights;

  const int in_row0 = row0 - sizes.padding;
  const int in_column = column - sizes.padding;
  const bool has_column = static_cast<unsigned>(in_column) < static_cast<unsigned>(sizes.width);
  float sums[shuffle_rows][shuffle_maps] = {};
  for (int channel0 = 0; channel0 < sizes.channels_per_group; channel0 += tiling.channels_per_step) {
    const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
    __syncthreads();  // everyone is done with the weights before
    copy_weights<float4>(w + channel0 * channel_weights, weights, channels * channel_weights);
    __syncthreads();  // the weights are complete before anyone reads them

    for (int channel = 0; channel < channels; ++channel) {
      const float* plane = x + (channel0 + channel) * in_plane;
      float own[in_rows];
#pragma unroll
      for (int r = 0; r < in_rows; ++r) {
        const int in_row = in_row0 + r;
        const bool exists = has_column && static_cast<unsigned>(in_row) < static_cast<unsigned>(sizes.height);
        own[r] = exists ? plane[in_row * sizes.width + in_column] : 0.0F;
      }
      const float* filter = weights + channel * channel_weights;
#pragma unroll 1  // a column of the filters is enough straight code
      for (int q = 0; q < kernel; ++q) {
        float inputs[in_rows];
#pragma unroll
        for (int r = 0; r < in_rows; ++r) inputs[r] = __shfl_down_sync(all_lanes, own[r], q);
#pragma unroll
        for (int p = 0; p < kernel; ++p) {
          const float4 tap = *reinterpret_cast<const float4*>(filter + (p * kernel + q) * shuffle_maps);
#pragma unroll
          for (int i = 0; i < shuffle_rows; ++i) {
            sums[i][0] += inputs[i + p] * tap.x;
            sums[i][1] += inputs[i + p] * tap.y;
            sums[i][2] += inputs[i + p] * tap.z;
            sums[i][3] += inputs[i + p] * tap.w;
          }
        }
      }
    }
  }

  if (lane >= outputs || column >= sizes.out_width) return;
  const int map = static_cast<int>(blockIdx.y) % tiling.map_blocks * shuffle_maps;
  y += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.out_channels * out_plane) +
       (group * sizes.maps_per_group + map) * out_plane + row0 * sizes.out_width + column;
#pragma unroll
  for (int m = 0; m < shuffle_maps; ++m) {
#pragma unroll
    for (int i = 0; i < shuffle_rows; ++i) {
      if (map + m < sizes.maps_per_group && row0 + i < sizes.out_height) {
        y[m * out_plane + i * sizes.out_width] = sums[i][m];
      }
    }
  }
}

namespace {

using Kernel = void (*)(const float*, const float*, float*, LayerSizes, ShuffleTiling);

constexpr int kKernels[] = {3, 5, 7};
constexpr Kernel kernels[] = {conv_shuffle_cache<3>, conv_shuffle_cache<5>, conv_shuffle_cache<7>};
static_assert(std::size(kKernels) == std::size(kernels));

Kernel kernel_for(const ConvShape& shape) {
  const auto found = std::find(std::begin(kKernels), std::end(kKernels), shape.kernel);
  return found == std::end(kKernels) || shape.stride != 1 ? nullptr : kernels[found - std::begin(kKernels)];
}

/// The plan of a register tile of 4 maps: the packing of the weights needs no more than that.
RegisterTilePlan packing_plan(const ConvShape& shape) {
  RegisterTilePlan plan;
  plan.size = {shape.kernel, 1, shuffle_maps, shuffle_rows, 1};
  plan.tiling.map_groups = 1;
  plan.tiling.map_blocks = ceil_div(shape.maps_per_group(), shuffle_maps);
  return plan;
}

unsigned warps_for(const ConvShape& shape) {
  // As many rows as a column of output has work for, in blocks of equal height.
  const int all = ceil_div(shape.out_height(), shuffle_rows);
  return static_cast<unsigned>(ceil_div(all, ceil_div(all, shuffle_most_warps)));
}

Dim3 grid_of(const ConvShape& shape) {
  const int outputs = 32 - (shape.kernel - 1);
  const int blocks = ceil_div(shape.out_height(), static_cast<int>(warps_for(shape)) * shuffle_rows);
  return {static_cast<unsigned>(shape.batch),
          static_cast<unsigned>(shape.groups * packing_plan(shape).tiling.map_blocks),
          static_cast<unsigned>(blocks * ceil_div(shape.out_width(), outputs))};
}

std::string unsupported(const ConvShape& shape) {
  if (kernel_for(shape) == nullptr) {
    return "kernel " + std::to_string(shape.kernel) + " with stride " + std::to_string(shape.stride) +
           " is not among the compiled ones (kernel/stride): 3/1, 5/1, 7/1";
  }
  return grid_error(grid_of(shape));
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const Kernel function = kernel_for(shape);
  if (function == nullptr) return {};
  const int channel_bytes = shape.kernel * shape.kernel * shuffle_maps * static_cast<int>(sizeof(float));
  constexpr int kSharedBytes = 16 * 1024;
  const int channels = std::clamp(kSharedBytes / channel_bytes, 1, shape.channels_per_group());
  return {
      over_items(make_launch(function, grid_of(shape), {warps_for(shape) * 32, 1, 1},
                             static_cast<std::size_t>(channels * channel_bytes), tensors.input, tensors.weights,
                             tensors.output, layer_sizes(shape), {packing_plan(shape).tiling.map_blocks, channels}))};
}

std::vector<float> pack(const ConvShape& shape, const float* weights) {
  return pack_for_register_tile(shape, packing_plan(shape), weights);
}

const VariantRegistration registration{
    "convolution",
    {.family = "cuda",
     .rung = 17,
     .name = "shuffle-cache",
     .title = "Warp-shuffle register cache",
     .builds_on = "register-tile",
     .hypothesis = "Inputs that lanes hand to each other are loaded once into registers and need neither shared memory "
                   "nor barriers."},
    cuda_variant({.plan = plan, .unsupported = unsupported, .pack = pack, .suits = false})};

}  // namespace
}  // namespace convladder
