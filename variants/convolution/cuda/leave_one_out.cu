// Leave one out: the best fp32 stage (9, many images per block) without one of its ideas at a time.
//
// On the ladder each stage adds an idea to those below it, and what an idea seems to be worth depends on the order in
// which they came: unrolling brings little while loads set the pace, and much once they do not. Here the order does not
// matter. Every kernel is stage 9 but for one idea, so what it loses against stage 9 is what that idea is worth beside
// all the others. These stand beside the ladder: they are run when they are asked for ('convladder run
// --leave-one-out').
//
// Some ideas carry others. Unrolled taps need the filter's size at compile time, and inputs slide under the taps in
// registers where these are unrolled, since registers have no index: in a loop a compiler can at best move them from
// one to the next. docs/use/leave_one_out.md shows how much of an idea's worth is of those that it carries.
//
// When it loses: always, that is its purpose. A row that does not lose names an idea that can go.
#include <algorithm>
#include <array>
#include <cstring>

#include "devices/kernel_resources.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/cuda_variant.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

/// The idea that is left out. For the last four the whole kernel runs with another tile or another launch.
enum class Idea {
  shared_inputs,
  shared_weights,
  packed_weights,
  weight_vectors,
  sliding_window,
  unrolled_taps,
  compile_time_sizes,
  local_accumulation,
  map_tile,
  pixel_tile,
  padded_rows,
  many_images
};

/// Whether the idea is left out in the kernel's code.
template <Idea without>
constexpr bool is_in_code = without < Idea::map_tile;

/// Filter size and stride, whether or not the compiler knows them.
template <Idea without, int kernel, int stride>
struct FilterSizes {
  int runtime_kernel;
  int runtime_stride;
  __device__ __forceinline__ explicit FilterSizes(const LayerSizes& sizes)
      : runtime_kernel(sizes.kernel), runtime_stride(sizes.stride) {}
  __device__ __forceinline__ int size() const { return without == Idea::compile_time_sizes ? runtime_kernel : kernel; }
  __device__ __forceinline__ int step() const { return without == Idea::compile_time_sizes ? runtime_stride : stride; }
};

/// Inputs under a row of the filter, from shared memory: those of the tile, with zeros for the padding.
struct SharedRow {
  const float* first;
  __device__ __forceinline__ float operator[](int column) const { return first[column]; }
};

/// Inputs under a row of the filter, from the image itself: inputs outside of it are zero.
struct ImageRow {
  const float* row;
  int column0;
  int width;
  bool inside;  ///< whether the row is one of the image's
  __device__ __forceinline__ float operator[](int column) const {
    const int in_column = column0 + column;
    return inside && static_cast<unsigned>(in_column) < static_cast<unsigned>(width) ? row[in_column] : 0.0F;
  }
};

/// Loads an input whenever it is asked for: a compiler would keep it in a register, which is the idea that is left out.
__device__ __forceinline__ float loaded_again(SharedRow row, int column) {
  return *static_cast<const volatile float*>(row.first + column);
}

/// The weights of one tap for the thread's maps, which lie side by side.
template <Idea without, typename Tile, int maps>
__device__ __forceinline__ void load_tap(const float* weights, float (&tap)[maps]) {
  using Weights = typename Tile::Weights;
  if constexpr (without == Idea::weight_vectors) {
#pragma unroll
    for (int m = 0; m < maps; ++m) tap[m] = weights[m];
  } else {
#pragma unroll
    for (int m = 0; m < maps; m += Tile::weights_per_load) {
      *reinterpret_cast<Weights*>(tap + m) = *reinterpret_cast<const Weights*>(weights + m);
    }
  }
}

/// Adds one row of the filters to the sums, as `SumTile::add_row` does.
template <Idea without, typename Sizes, typename Tile, typename Row, int maps, int pixels>
__device__ __forceinline__ void add_row(float (&sums)[maps][pixels], Row row, const float* weights, int tap_step,
                                        Sizes filter) {
  const auto multiply = [&](const auto& input_of, const float(&tap)[maps]) {
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      const float input = input_of(i);
#pragma unroll
      for (int m = 0; m < maps; ++m) sums[m][i] += input * tap[m];
    }
  };
  float tap[maps];
  if constexpr (without == Idea::unrolled_taps || without == Idea::compile_time_sizes) {
#pragma unroll 1
    for (int q = 0; q < filter.size(); ++q) {
      load_tap<without, Tile>(weights + q * tap_step, tap);
      multiply([&](int i) { return row[i * filter.step() + q]; }, tap);
    }
  } else if constexpr (without == Idea::sliding_window) {
#pragma unroll
    for (int q = 0; q < filter.size(); ++q) {
      load_tap<without, Tile>(weights + q * tap_step, tap);
      multiply([&](int i) { return loaded_again(row, i * filter.step() + q); }, tap);
    }
  } else {
    float inputs[Tile::window];
#pragma unroll
    for (int j = 0; j < Tile::window; ++j) inputs[j] = row[j];
#pragma unroll
    for (int q = 0; q < filter.size(); ++q) {
      load_tap<without, Tile>(weights + q * tap_step, tap);
      multiply([&](int i) { return inputs[i * filter.step() + q]; }, tap);
    }
  }
}

/// Adds the sums to the output, or stores them where they are the first: the equivalent of `y +=` for one pixel.
template <int maps, int pixels>
__device__ __forceinline__ void accumulate(const float (&sums)[maps][pixels], float* to, int plane, int map_count,
                                           int pixel_count, bool is_first) {
#pragma unroll
  for (int m = 0; m < maps; ++m) {
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      if (m < map_count && i < pixel_count) to[i] = is_first ? sums[m][i] : to[i] + sums[m][i];
    }
    to += plane;
  }
}

/// Copies weights as `copy_weights` does, but from OIHW, to where the block reads them: [tap of the channels][map].
template <typename Block>
__device__ __forceinline__ void gather_weights(const float* from, float* to, const LayerSizes& sizes,
                                               const Block& block, int first_tap, int count) {
  const int taps = sizes.channels_per_group * sizes.kernel * sizes.kernel;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    const int map = block.first_map + i % block.block_maps;
    const int tap = first_tap + i / block.block_maps;
    to[i] = map < sizes.maps_per_group ? from[(block.group * sizes.maps_per_group + map) * taps + tap] : 0.0F;
  }
}

/// Dynamic shared memory, unless it is left out: the weights of a step, then `channels_per_step` planes of the input
/// under the tile. `idea` is an `Idea` as a number, which reads better in kernels' names.
template <int idea, int kernel, int stride, int maps, int pixels>
__global__ void __launch_bounds__(register_tile_threads, register_tile_blocks)
    conv_leave_one_out(const float* x, const float* __restrict__ w, float* y, LayerSizes sizes, RegisterTiling tiling) {
  constexpr Idea without = static_cast<Idea>(idea);
  using Tile = SumTile<kernel, stride, maps, pixels>;
  using Sizes = FilterSizes<without, kernel, stride>;
  constexpr bool has_shared_inputs = without != Idea::shared_inputs;
  constexpr bool has_shared_weights = without != Idea::shared_weights;
  constexpr bool is_packed = without != Idea::packed_weights;
  using CopiedWeights = std::conditional_t<without == Idea::weight_vectors, float, typename Tile::Weights>;

  extern __shared__ __align__(16) float shared[];
  const Sizes filter(sizes);
  TileBlock<kernel, stride, maps, pixels> block(sizes, tiling);
  block.plane_rows = (tiling.rows - 1) * filter.step() + filter.size();
  block.plane_columns = (tiling.strips * pixels - 1) * filter.step() + filter.size();
  block.channel_weights = filter.size() * filter.size() * block.block_maps;
  float* weights = shared;
  float* inputs = has_shared_weights ? shared + tiling.channels_per_step * block.channel_weights : shared;

  const std::size_t first_image = static_cast<std::size_t>(blockIdx.x) * static_cast<unsigned>(tiling.images_per_block);
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  const int in_image = sizes.in_channels * in_plane;
  const int out_image = sizes.out_channels * out_plane;
  x += first_image * static_cast<std::size_t>(in_image) + block.group * sizes.channels_per_group * in_plane;
  if (is_packed) w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * block.channel_weights;

  const bool weights_stay = tiling.channels_per_step >= sizes.channels_per_group;
  const int row = block.row0 + block.row;
  const int column = block.column0 + block.strip * pixels;
  const bool has_output = block.has_work(tiling) && row < sizes.out_height && column < sizes.out_width;
  const int map = block.first_map + block.map_group * maps;
  y += first_image * static_cast<std::size_t>(out_image) + (block.group * sizes.maps_per_group + map) * out_plane +
       row * sizes.out_width + column;

  for (int image = 0; image < tiling.images_per_block; ++image) {
    Tile tile;
    tile.clear();
    for (int channel0 = 0; channel0 < sizes.channels_per_group; channel0 += tiling.channels_per_step) {
      const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
      const int count = channels * block.channel_weights;
      __syncthreads();  // everyone is done with the channels before
      if constexpr (has_shared_inputs) {
        copy_input_at(x + channel0 * in_plane, inputs, sizes, block, block.row0 * filter.step() - sizes.padding,
                      block.column0 * filter.step() - sizes.padding, tiling.pitch, channels);
      }
      if constexpr (has_shared_weights) {
        if (image == 0 || !weights_stay) {
          if constexpr (is_packed) {
            copy_weights<CopiedWeights>(w + channel0 * block.channel_weights, weights, count);
          } else {
            gather_weights(w, weights, sizes, block, channel0 * filter.size() * filter.size(), count);
          }
        }
      }
      __syncthreads();  // inputs and weights are complete before anyone reads them
      if (!has_output) continue;

      const float* tap_weights =
          block.map_group * maps + (has_shared_weights ? weights : w + channel0 * block.channel_weights);
      const float* window = inputs + block.row * filter.step() * tiling.pitch + block.strip * pixels * filter.step();
      for (int channel = 0; channel < channels; ++channel) {
        const float* input_row = window + channel * block.plane_rows * tiling.pitch;
#pragma unroll 1  // a row of the filters is enough straight code
        for (int p = 0; p < filter.size(); ++p) {
          if constexpr (has_shared_inputs) {
            add_row<without, Sizes, Tile>(tile.sums, SharedRow{input_row}, tap_weights, block.block_maps, filter);
          } else {
            const int in_row = row * stride + p - sizes.padding;
            const bool inside = static_cast<unsigned>(in_row) < static_cast<unsigned>(sizes.height);
            const float* image_row = x + ((channel0 + channel) * sizes.height + in_row) * sizes.width;
            add_row<without, Sizes, Tile>(tile.sums,
                                          ImageRow{image_row, column * stride - sizes.padding, sizes.width, inside},
                                          tap_weights, block.block_maps, filter);
          }
          input_row += tiling.pitch;
          tap_weights += filter.size() * block.block_maps;
          if constexpr (without == Idea::local_accumulation) {
            accumulate(tile.sums, y, out_plane, sizes.maps_per_group - map, sizes.out_width - column,
                       channel0 + channel + p == 0);
            tile.clear();
          }
        }
      }
    }
    if (has_output && without != Idea::local_accumulation) {
      tile.store(y, out_plane, sizes.maps_per_group - map, sizes.out_width - column);
    }
    x += in_image;
    y += out_image;
  }
}

namespace {

using Kernel = void (*)(const float*, const float*, float*, LayerSizes, RegisterTiling);

/// The tiles of stage 9 for lenet72 conv2 and lenet86 conv2, and for lenet28 conv1.
constexpr std::array<RegisterTileSize, 2> whole_sizes = {{{7, 1, 8, 9, 9}, {5, 1, 10, 6, 6}}};

template <Idea without>
constexpr std::array<RegisterTileSize, whole_sizes.size()> sizes = [] {
  std::array<RegisterTileSize, whole_sizes.size()> list = whole_sizes;
  for (RegisterTileSize& size : list) {
    if (without == Idea::map_tile) size.maps = 1;
    if (without == Idea::pixel_tile) size.pixels = size.run = 1;
  }
  return list;
}();

template <Idea without, std::size_t index>
constexpr Kernel instantiation = conv_leave_one_out<static_cast<int>(is_in_code<without> ? without : Idea::many_images),
                                                    sizes<without>[index].kernel, sizes<without>[index].stride,
                                                    sizes<without>[index].maps, sizes<without>[index].pixels>;

template <Idea without>
constexpr std::array<Kernel, whole_sizes.size()> kernels = {instantiation<without, 0>, instantiation<without, 1>};

constexpr const char* best_stage = "many-images";

/// The end of a kernel's name: "<7, 1, 8, 9>".
std::string tile_name(const RegisterTileSize& size) {
  std::string name = "<";
  for (const int number : {size.kernel, size.stride, size.maps, size.pixels}) {
    if (name.size() > 1) name += ", ";
    name += std::to_string(number);
  }
  name += '>';
  return name;
}

/// The best stage's own plan, whoever chose it, if its tile is one of the whole sizes: then nothing but the idea
/// differs.
std::optional<RegisterTilePlan> whole_plan(const ConvShape& shape) {
  const std::vector<KernelLaunch> best =
      find_variant(convolution_problem(), "cuda", best_stage)->variant->launch_plan(shape);
  if (best.size() != 1) return std::nullopt;
  const std::string tile = kernel_display_name(best[0].kernel);
  RegisterTilePlan plan;
  for (; plan.compiled < whole_sizes.size(); ++plan.compiled) {
    plan.size = whole_sizes[plan.compiled];
    if (tile.ends_with(tile_name(plan.size))) break;
  }
  if (plan.compiled == whole_sizes.size() || best[0].arguments.back().size() != sizeof plan.tiling) return std::nullopt;
  std::memcpy(&plan.tiling, best[0].arguments.back().data(), sizeof plan.tiling);
  plan.grid = best[0].grid;
  plan.block = best[0].block;
  plan.shared_bytes = best[0].dynamic_shared_bytes;
  return plan;
}

std::size_t input_bytes(const RegisterTilePlan& plan, int pitch) {
  const int plane_rows = (plan.tiling.rows - 1) * plan.size.stride + plan.size.kernel;
  return static_cast<std::size_t>(plan.tiling.channels_per_step) * static_cast<std::size_t>(plane_rows * pitch) *
         sizeof(float);
}

/// The best stage's plan, with the changes that leaving out the idea brings.
template <Idea without>
RegisterTilePlan plan_without(const ConvShape& shape) {
  RegisterTilePlan plan = *whole_plan(shape);
  if constexpr (without == Idea::map_tile || without == Idea::pixel_tile) {
    plan = with_images_per_block(*register_tile_plan(shape, sizes<without>), plan.tiling.images_per_block);
  } else if constexpr (without == Idea::many_images) {
    plan.grid.x *= static_cast<unsigned>(plan.tiling.images_per_block);
    plan.tiling.images_per_block = 1;
  } else if constexpr (without == Idea::padded_rows) {
    const int narrowest = (plan.tiling.strips * plan.size.pixels - 1) * plan.size.stride + plan.size.kernel;
    plan.shared_bytes -= input_bytes(plan, plan.tiling.pitch) - input_bytes(plan, narrowest);
    plan.tiling.pitch = narrowest;
  } else if constexpr (without == Idea::shared_inputs) {
    plan.shared_bytes -= input_bytes(plan, plan.tiling.pitch);
  } else if constexpr (without == Idea::shared_weights) {
    plan.shared_bytes = input_bytes(plan, plan.tiling.pitch);
  }
  return plan;
}

template <Idea without>
std::string unsupported(const ConvShape& shape) {
  if (std::string error = register_tile_error(shape, sizes<without>); !error.empty()) return error;
  if (whole_plan(shape)) return "";
  return std::string(best_stage) + " uses a tile for this layer that leave-one-out is not compiled for";
}

template <Idea without>
std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  if (!unsupported<without>(shape).empty()) return {};
  const RegisterTilePlan chosen = plan_without<without>(shape);
  return {over_items(make_launch(kernels<without>[chosen.compiled], chosen.grid, chosen.block, chosen.shared_bytes,
                                 tensors.input, tensors.weights, tensors.output, layer_sizes(shape), chosen.tiling),
                     Axis::x, static_cast<unsigned>(chosen.tiling.images_per_block))};
}

template <Idea without>
std::vector<float> pack(const ConvShape& shape, const float* weights) {
  if (without == Idea::packed_weights) return {weights, weights + shape.weight_elements()};
  return pack_for_register_tile(shape, plan_without<without>(shape), weights);
}

template <Idea without>
std::string choice(const ConvShape& shape) {
  return register_tile_choice(plan_without<without>(shape));
}

/// `leaves_out`: the idea in a few words. `hypothesis`: what should get worse without it.
template <Idea without>
VariantRegistration registration(std::string_view name, std::string_view title, std::string_view leaves_out,
                                 std::string_view hypothesis) {
  return {"convolution",
          {.family = "cuda",
           .rung = {},
           .name = name,
           .title = title,
           .builds_on = best_stage,
           .hypothesis = hypothesis,
           .leaves_out = leaves_out},
          cuda_variant({.plan = plan<without>,
                        .unsupported = unsupported<without>,
                        .pack = pack<without>,
                        .choice = choice<without>})};
}

const VariantRegistration registrations[] = {
    registration<Idea::shared_inputs>(
        "without-shared-inputs", "Without shared memory for inputs", "shared memory for inputs",
        "Every thread that needs an input reads it through the L1, and checks every border."),
    registration<Idea::shared_weights>(
        "without-shared-weights", "Without shared memory for weights", "shared memory for weights",
        "Weights come from the L1, which then has more work than shared memory would have."),
    registration<Idea::packed_weights>("without-packed-weights", "Without packed weights", "packed weights",
                                       "Blocks gather the weights from OIHW, one scattered float at a time."),
    registration<Idea::weight_vectors>("without-weight-vectors", "Without vectors of weights",
                                       "weights in 128-bit loads", "A load for each weight of a tap instead of four."),
    registration<Idea::sliding_window>(
        "without-sliding-window", "Without the sliding window", "sliding window of inputs",
        "Every tap loads the inputs of its pixels again instead of finding them in registers."),
    registration<Idea::unrolled_taps>("without-unrolled-taps", "Without unrolled taps", "unrolled taps",
                                      "A loop over the taps, in which inputs are moved or loaded again."),
    registration<Idea::compile_time_sizes>(
        "without-compile-time-sizes", "Without compile-time sizes", "compile-time filter sizes",
        "Sizes in registers, and with them neither unrolled taps nor a sliding window."),
    registration<Idea::local_accumulation>("without-local-accumulation", "Without local accumulation",
                                           "local accumulation",
                                           "The output is read and written again at every row of the filters."),
    registration<Idea::map_tile>("without-map-tile", "Without a tile of maps", "register tile over maps",
                                 "An input in a register is used for one map instead of eight or ten."),
    registration<Idea::pixel_tile>("without-pixel-tile", "Without a tile of pixels", "register tile over pixels",
                                   "A weight in a register is used for one pixel instead of six or nine."),
    registration<Idea::padded_rows>("without-padded-rows", "Without padded rows", "rows padded against bank conflicts",
                                    "Threads of neighbouring rows use the same banks of shared memory."),
    registration<Idea::many_images>("without-many-images", "Without many images per block", "many images per block",
                                    "Weights are copied and blocks are started for every image."),
};

}  // namespace
}  // namespace convladder
