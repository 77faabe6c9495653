// Register tile with the bias, the activation and the max pooling that follow it.
//
// Against stage 8 the tile of a thread is not a strip of one row but whole pooling windows: for 2/2 two rows of six
// pixels, for 4/4 four rows of four. When its sums are complete, a thread has everything that its pooled outputs need
// in its registers: no shared memory and no other thread takes part in the pooling. The largest of each window gets
// bias and activation, so tanh is computed once for four sums, and a quarter of the bytes is stored. Two kernels and
// their traffic are gone: the activation, which reads and writes all of the convolution's output, and the pooling,
// which reads it again. Rows and columns that no window covers are not convolved at all.
//
// When it loses: a tile of several rows has fewer neighbours in a row, so its inputs slide under fewer pixels, which
// takes 0.09 loads for each multiply-add instead of 0.06. Windows that overlap would need sums of other threads; they
// are refused.
#include <iterator>

#include "variants/convolution/cuda/register_tile_kernel.hpp"
#include "variants/convolution/fused/cuda/window_tiling.hpp"
#include "variants/convolution/fused/cuda_fused.hpp"
#include "variants/elementary_functions.hpp"

namespace convladder {

/// How a window's largest sum becomes an output, and where that is stored.
struct StoreParameters {
  bool is_tanh;  ///< ReLU if false
  int pooled_height;
  int pooled_width;
};

/// The sums of one thread: `maps` output maps x `windows` neighbouring pooling windows of pool x pool pixels.
template <int kernel, int pool, int maps, int windows>
struct WindowTile {
  using Weights = typename SumTile<kernel, 1, maps, windows * pool>::Weights;
  static constexpr int weights_per_load = sizeof(Weights) / sizeof(float);
  static constexpr int pixels = windows * pool;
  static constexpr int columns = pixels - 1 + kernel;  ///< inputs under a row of pixels

  float sums[maps][pool][pixels];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int m = 0; m < maps; ++m) {
#pragma unroll
      for (int i = 0; i < pool * pixels; ++i) sums[m][i / pixels][i % pixels] = 0.0F;
    }
  }

  /// Adds one row of the filters to all rows of pixels; the inputs of each row lie `pitch` floats after those of the
  /// row above. Works like SumTile::add_row, but loads each tap's weights once for all rows.
  __device__ __forceinline__ void add_row(const float* row, int pitch, const float* weights, int tap_step) {
    float inputs[pool][columns];
#pragma unroll
    for (int r = 0; r < pool; ++r) {
#pragma unroll
      for (int j = 0; j < columns; ++j) inputs[r][j] = row[r * pitch + j];
    }
#pragma unroll
    for (int q = 0; q < kernel; ++q) {
      float tap[maps];
#pragma unroll
      for (int m = 0; m < maps; m += weights_per_load) {
        *reinterpret_cast<Weights*>(tap + m) = *reinterpret_cast<const Weights*>(weights + q * tap_step + m);
      }
#pragma unroll
      for (int m = 0; m < maps; ++m) {
#pragma unroll
        for (int i = 0; i < pool * pixels; ++i) {
          sums[m][i / pixels][i % pixels] += inputs[i / pixels][i % pixels + q] * tap[m];
        }
      }
    }
  }

  /// The largest sum of a window; NaN if any of them is. max.f32 drops a NaN, and one comparison looks for it in two
  /// values.
  __device__ __forceinline__ float largest(int map, int window) const {
    float values[pool * pool];
#pragma unroll
    for (int i = 0; i < pool * pool; ++i) values[i] = sums[map][i / pool][window * pool + i % pool];
    float result = values[0];
    bool any_nan = false;
#pragma unroll
    for (int i = 1; i < pool * pool; ++i) asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(result), "f"(values[i]));
#pragma unroll
    for (int i = 0; i < pool * pool; i += 2) {
      const float a = values[i];
      const float b = values[i + 1 < pool * pool ? i + 1 : i];
      any_nan = any_nan | (a != a) | (b != b);
    }
    return any_nan ? __uint_as_float(0x7fffffffU) : result;
  }

  /// Stores the pooled outputs: `to` is the first of the first map, `plane` the elements of a pooled map. Maps and
  /// windows from `map_count` and `window_count` on do not exist. `bias` is that of the first map, or null.
  __device__ __forceinline__ void store(float* to, int plane, const float* bias, bool is_tanh, int map_count,
                                        int window_count) const {
    float pooled[maps][windows];
#pragma unroll
    for (int m = 0; m < maps; ++m) {
      const float added = bias != nullptr && m < map_count ? bias[m] : 0.0F;
#pragma unroll
      for (int i = 0; i < windows; ++i) pooled[m][i] = largest(m, i) + added;
    }
    if (is_tanh) {  // one branch for all outputs
#pragma unroll
      for (int i = 0; i < maps * windows; ++i) {
        pooled[i / windows][i % windows] = hyperbolic_tangent(pooled[i / windows][i % windows]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < maps * windows; ++i) {
        const float value = pooled[i / windows][i % windows];
        pooled[i / windows][i % windows] = value < 0.0F ? 0.0F : value;  // a NaN stays a NaN
      }
    }
#pragma unroll
    for (int m = 0; m < maps; ++m) {
#pragma unroll
      for (int i = 0; i < windows; ++i) {
        if (m < map_count && i < window_count) to[i] = pooled[m][i];
      }
      to += plane;
    }
  }
};

/// Dynamic shared memory: the weights of a step, then `channels_per_step` planes of the input under the tile. Output
/// height and width in `sizes` count the pixels that windows cover.
template <int kernel, int pool, int maps, int windows>
__global__ void __launch_bounds__(register_tile_threads, register_tile_blocks)
    fused_register_tile(const float* x, const float* w, const float* bias, float* y, LayerSizes sizes,
                        RegisterTiling tiling, StoreParameters store) {
  using Tile = WindowTile<kernel, pool, maps, windows>;
  extern __shared__ __align__(16) float shared[];
  const TileBlock<kernel, 1, maps, Tile::pixels, pool> block(sizes, tiling);
  float* weights = shared;
  float* inputs = shared + tiling.channels_per_step * block.channel_weights;

  const std::size_t image = blockIdx.x;
  const int in_plane = sizes.height * sizes.width;
  const int pooled_plane = store.pooled_height * store.pooled_width;
  x += image * static_cast<std::size_t>(sizes.in_channels * in_plane) +
       block.group * sizes.channels_per_group * in_plane;
  y += image * static_cast<std::size_t>(sizes.out_channels * pooled_plane);
  w += static_cast<int>(blockIdx.y) * sizes.channels_per_group * block.channel_weights;

  Tile tile;
  tile.clear();
  for (int channel0 = 0; channel0 < sizes.channels_per_group; channel0 += tiling.channels_per_step) {
    const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
    __syncthreads();  // everyone is done with the channels before
    copy_input<1>(x + channel0 * in_plane, inputs, sizes, block, tiling.pitch, channels);
    copy_weights<typename Tile::Weights>(w + channel0 * block.channel_weights, weights,
                                         channels * block.channel_weights);
    __syncthreads();  // inputs and weights are complete before anyone reads them
    if (!block.has_work(tiling)) continue;

    const float* tap_weights = weights + block.map_group * maps;
    const float* window = inputs + block.row * pool * tiling.pitch + block.strip * Tile::pixels;
    for (int channel = 0; channel < channels; ++channel) {
      const float* input_row = window + channel * block.plane_rows * tiling.pitch;
#pragma unroll 1  // as in stage 8
      for (int p = 0; p < kernel; ++p) {
        tile.add_row(input_row, tiling.pitch, tap_weights, block.block_maps);
        input_row += tiling.pitch;
        tap_weights += kernel * block.block_maps;
      }
    }
  }

  const int row = block.row0 / pool + block.row;
  const int column = block.column0 / pool + block.strip * windows;
  if (!block.has_work(tiling) || row >= store.pooled_height || column >= store.pooled_width) return;
  const int map_of_group = block.first_map + block.map_group * maps;
  const int map = block.group * sizes.maps_per_group + map_of_group;
  tile.store(y + map * pooled_plane + row * store.pooled_width + column, pooled_plane,
             bias == nullptr ? nullptr : bias + map, store.is_tanh, sizes.maps_per_group - map_of_group,
             store.pooled_width - column);
}

namespace {

using Kernel = void (*)(const float*, const float*, const float*, float*, LayerSizes, RegisterTiling, StoreParameters);

/// A compiled kernel: the size of a thread's tile, whose rows are those of a pooling window.
struct Compiled {
  RegisterTileSize size;
  Kernel kernel;
};

template <int kernel, int pool, int maps, int windows>
constexpr Compiled compiled = {{kernel, 1, maps, windows* pool, windows* pool, pool},
                               fused_register_tile<kernel, pool, maps, windows>};

constexpr Compiled all_compiled[] = {compiled<3, 2, 8, 2>, compiled<5, 2, 6, 2>, compiled<5, 2, 4, 4>,
                                     compiled<7, 2, 6, 3>, compiled<7, 2, 4, 4>, compiled<7, 4, 4, 1>};

/// The compiled kernels for this pooling, in the order of the list.
std::vector<Compiled> with_pool(int pool) {
  std::vector<Compiled> list;
  for (const Compiled& one : all_compiled) {
    if (one.size.rows == pool) list.push_back(one);
  }
  return list;
}

std::vector<RegisterTileSize> sizes_of(const std::vector<Compiled>& list) {
  std::vector<RegisterTileSize> sizes;
  for (const Compiled& one : list) sizes.push_back(one.size);
  return sizes;
}

std::optional<RegisterTilePlan> plan_of(const FusedShape& shape) {
  return register_tile_plan(covered_convolution(shape), sizes_of(with_pool(shape.pool_size)));
}

std::string unsupported(const FusedShape& shape) {
  const std::vector<Compiled> list = with_pool(shape.pool_size);
  const std::string error = window_error(shape, !list.empty());
  return error.empty() ? register_tile_error(covered_convolution(shape), sizes_of(list)) : error;
}

std::vector<float> pack(const FusedShape& shape, const float* weights) {
  return pack_for_register_tile(shape.convolution, *plan_of(shape), weights);
}

std::vector<KernelLaunch> plan(const FusedShape& shape, const FusedTensors& tensors) {
  const RegisterTilePlan chosen = *plan_of(shape);
  LayerSizes sizes = layer_sizes(shape.convolution);
  sizes.out_height = shape.pooled_height() * shape.pool_size;
  sizes.out_width = shape.pooled_width() * shape.pool_size;
  return {
      make_launch(with_pool(shape.pool_size)[chosen.compiled].kernel, chosen.grid, chosen.block, chosen.shared_bytes,
                  tensors.input, tensors.weights, tensors.bias, tensors.output, sizes, chosen.tiling,
                  StoreParameters{shape.activation == Activation::tanh, shape.pooled_height(), shape.pooled_width()})};
}

std::string choice(const FusedShape& shape) { return register_tile_choice(*plan_of(shape)); }

const VariantRegistration registration{
    "fused-convolution",
    {.family = "cuda",
     .rung = 2,
     .name = "fused-register-tile",
     .title = "Register tile, pooled in the store",
     .builds_on = "separate-register-tile",
     .hypothesis = "A thread's tile holds whole pooling windows: only a quarter is stored, and two kernels are saved."},
    cuda_fused_variant({.unsupported = unsupported, .pack = pack, .plan = plan, .choice = choice})};

}  // namespace
}  // namespace convladder
