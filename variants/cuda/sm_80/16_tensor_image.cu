// Stage 16: fragments from the image. The tensor cores take their inputs from an image in shared memory, not from X.
//
// In stages 11 to 15 a block gathers its tile of X: each input is copied up to K*K times, at a dozen instructions for
// each copy, and that is what is left when tensor cores do the multiplying. But X is only a way of reading the image:
// element (tap, pixel) lies at the place of the pixel plus the offset of the tap. So here a block copies the rows of
// input under its pixels once, in tf32, and a lane that needs an element for its fragment adds a pixel's place, which
// it keeps in a register, to a tap's offset, which comes from a table. The weights need no shared memory at all:
// `prepare` rounds them to tf32 and lays them out as the fragments want them, so that a fragment of 16 maps x 8 taps is
// one 128-bit load, the same for all blocks. That relieves the issue slots: a seventh of an instruction is left for
// each multiply-add.
//
// When it loses: layers with a single channel are bound by their output, whoever multiplies. A warp needs 32 pixels and
// 16 maps to be full: 4 maps leave it at a quarter. Rows of input that are too wide for shared memory are refused.
#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "variants/cuda/register_tile_kernel.hpp"
#include "variants/cuda/sm_80/tensor_tile.hpp"
#include "variants/cuda_variant.hpp"

namespace convladder {

constexpr int fragment_taps = 8;

/// The work of a block: 32 pixels for each of its warps, counted through the rows of the output map, of all maps of a
/// map tile. It walks over the input channels, `channels_per_step` at a time.
struct TensorImageTiling {
  int map_tiles;   ///< that a group's output maps are divided into
  int plane_rows;  ///< of the input under the block's pixels
  int pitch;       ///< floats from row to row, padding included
  int channels_per_step;
  int steps;
  int fragments;  ///< of 8 taps each, in a step
};

/// `w`: for each fragment of each step, for t = 0 to 3, the offsets of its taps t and t + 4; then for each group, map
/// tile, step and fragment the weights [16 maps][lane][4]. Dynamic shared memory: the planes of input of a step.
template <int maps>
__global__ void __launch_bounds__(256, 2)
    conv_tensor_image(const float* x, const float* w, float* y, LayerSizes sizes, TensorImageTiling tiling) {
  extern __shared__ unsigned image_in_tf32[];
  TensorTile<SlotType::tf32, maps> tile;
  const int in_plane = sizes.height * sizes.width;
  const int out_plane = sizes.out_height * sizes.out_width;
  const int group = static_cast<int>(blockIdx.y) / tiling.map_tiles;
  const int first_pixel = static_cast<int>(blockIdx.z * blockDim.x);
  const int first_row = first_pixel / sizes.out_width;
  const int warp_pixel = first_pixel + static_cast<int>(threadIdx.x) / 32 * 32;
  x += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.in_channels * in_plane) +
       group * sizes.channels_per_group * in_plane;

  const unsigned* pixels[tile.pixel_tiles];  // where the windows of this lane's pixels begin
#pragma unroll
  for (int j = 0; j < tile.pixel_tiles; ++j) {
    const int pixel = warp_pixel + j * 8 + tile.group;
    const int row = pixel / sizes.out_width - first_row;
    const int place = (row * tiling.pitch + pixel % sizes.out_width) * sizes.stride;
    pixels[j] = image_in_tf32 + (pixel < out_plane ? place : 0);
  }

  const int2* offsets = reinterpret_cast<const int2*>(w) + tile.lane;
  const float4* weights = reinterpret_cast<const float4*>(w + tiling.steps * tiling.fragments * fragment_taps) +
                          static_cast<int>(blockIdx.y) * tiling.steps * tiling.fragments * (maps / 16) * 32 +
                          static_cast<int>(threadIdx.x) % 32;
  for (int step = 0; step < tiling.steps; ++step) {
    const int channel0 = step * tiling.channels_per_step;
    const int channels = min(tiling.channels_per_step, sizes.channels_per_group - channel0);
    __syncthreads();  // everyone is done with the channels before
    for (TileWalk at(tiling.plane_rows, tiling.pitch); at.channel < channels; at.next()) {
      const int in_row = first_row * sizes.stride - sizes.padding + at.row;
      const int in_column = at.column - sizes.padding;
      const bool inside = static_cast<unsigned>(in_row) < static_cast<unsigned>(sizes.height) &&
                          static_cast<unsigned>(in_column) < static_cast<unsigned>(sizes.width);
      const int pixel = ((channel0 + at.channel) * sizes.height + in_row) * sizes.width + in_column;
      image_in_tf32[(at.channel * tiling.plane_rows + at.row) * tiling.pitch + at.column] =
          inside ? to_tf32(x[pixel]) : 0U;
    }
    __syncthreads();  // the image is complete before anyone reads it

    for (int fragment = 0; fragment < tiling.fragments; ++fragment) {
      const int2 offset = *offsets;
      unsigned b[tile.pixel_tiles][2];
#pragma unroll
      for (int j = 0; j < tile.pixel_tiles; ++j) {
        b[j][0] = pixels[j][offset.x];
        b[j][1] = pixels[j][offset.y];
      }
#pragma unroll
      for (int i = 0; i < maps / 16; ++i) {
        const float4 four = weights[i * 32];
        const unsigned a[4] = {__float_as_uint(four.x), __float_as_uint(four.y), __float_as_uint(four.z),
                               __float_as_uint(four.w)};
#pragma unroll
        for (int j = 0; j < tile.pixel_tiles; ++j) multiply_matrices<SlotType::tf32>(tile.sums[i][j], a, b[j]);
      }
      offsets += 4;
      weights += maps / 16 * 32;
    }
  }

  const int map = static_cast<int>(blockIdx.y) % tiling.map_tiles * maps;
  y += static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(sizes.out_channels * out_plane) +
       (group * sizes.maps_per_group + map) * out_plane + warp_pixel;
  tile.store(y, out_plane, sizes.maps_per_group - map, out_plane - warp_pixel);
}

namespace {

using Kernel = void (*)(const float*, const float*, float*, LayerSizes, TensorImageTiling);

constexpr int kMostWarps = 8;
constexpr int kMaps[] = {64, 32, 16};
constexpr Kernel kernels[] = {conv_tensor_image<64>, conv_tensor_image<32>, conv_tensor_image<16>};
static_assert(std::size(kMaps) == std::size(kernels));

struct Plan {
  std::size_t compiled = 0;  ///< index into the lists above
  TensorImageTiling tiling{};
  unsigned warps = 0;
  std::int64_t plane = 0;  ///< floats of one channel under a block

  int maps() const { return kMaps[compiled]; }
};

Plan plan_of(const ConvShape& shape) {
  Plan plan;
  // The maps that leave the fewest idle, the most of those: an input then serves more of them.
  const auto all_maps = [&](int maps) { return ceil_div(shape.maps_per_group(), maps) * maps; };
  for (std::size_t i = 1; i < std::size(kMaps); ++i) {
    if (all_maps(kMaps[i]) < all_maps(plan.maps())) plan.compiled = i;
  }
  // The warps that leave the fewest pixels idle, the most of those.
  const int out_plane = shape.out_height() * shape.out_width();
  int fewest = 0;
  for (int warps = 2; warps <= kMostWarps; ++warps) {
    const int all_pixels = ceil_div(out_plane, warps * 32) * warps * 32;
    if (fewest == 0 || all_pixels <= fewest) {
      fewest = all_pixels;
      plan.warps = static_cast<unsigned>(warps);
    }
  }
  const int pixels = static_cast<int>(plan.warps) * 32;
  const int rows = std::min(shape.out_height(), (pixels - 2) / shape.out_width() + 2);
  TensorImageTiling& tiling = plan.tiling;
  tiling.map_tiles = ceil_div(shape.maps_per_group(), plan.maps());
  tiling.plane_rows = (rows - 1) * shape.stride + shape.kernel;
  tiling.pitch = (shape.out_width() - 1) * shape.stride + shape.kernel;
  plan.plane = std::int64_t{tiling.plane_rows} * tiling.pitch;
  constexpr std::int64_t kSharedFloats = 32 * 1024 / sizeof(float);
  const auto fitting = std::clamp<std::int64_t>(kSharedFloats / plan.plane, 1, shape.channels_per_group());
  tiling.steps = ceil_div(shape.channels_per_group(), static_cast<int>(fitting));
  tiling.channels_per_step = ceil_div(shape.channels_per_group(), tiling.steps);
  tiling.fragments = ceil_div(tiling.channels_per_step * shape.kernel * shape.kernel, fragment_taps);
  return plan;
}

Dim3 grid_of(const ConvShape& shape, const Plan& plan) {
  return {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.groups * plan.tiling.map_tiles),
          static_cast<unsigned>(ceil_div(shape.out_height() * shape.out_width(), static_cast<int>(plan.warps) * 32))};
}

std::size_t shared_bytes(const Plan& plan) {
  return static_cast<std::size_t>(plan.tiling.channels_per_step * plan.plane) * sizeof(float);
}

std::string unsupported(const ConvShape& shape) {
  const Plan plan = plan_of(shape);
  if (shared_bytes(plan) > max_shared_bytes) {
    return shared_memory_error("the rows of input under 64 or more output pixels", shared_bytes(plan));
  }
  return grid_error(grid_of(shape, plan));
}

std::vector<KernelLaunch> plan(const ConvShape& shape, const CudaTensors& tensors) {
  const Plan chosen = plan_of(shape);
  if (shared_bytes(chosen) > max_shared_bytes) return {};
  return {make_launch(kernels[chosen.compiled], grid_of(shape, chosen), {chosen.warps * 32, 1, 1}, shared_bytes(chosen),
                      tensors.input, tensors.weights, tensors.output, layer_sizes(shape), chosen.tiling)};
}

/// The nearest number with tf32's 10 bits of fraction, halves away from zero.
float nearest_tf32(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & 0xffffe000U);
}

/// The taps of a step as they lie in its fragments; a tap that only fills up the last one is -1.
int tap_of(const ConvShape& shape, const Plan& plan, int step, int slot) {
  const int taps = shape.kernel * shape.kernel;
  const int channel = step * plan.tiling.channels_per_step + slot / taps;
  const bool exists = slot < plan.tiling.channels_per_step * taps && channel < shape.channels_per_group();
  return exists ? channel * taps + slot % taps : -1;
}

std::vector<float> pack(const ConvShape& shape, const float* weights) {
  const Plan plan = plan_of(shape);
  const TensorImageTiling& tiling = plan.tiling;
  const int all_taps = shape.channels_per_group() * shape.kernel * shape.kernel;
  std::vector<float> packed;
  for (int step = 0; step < tiling.steps; ++step) {
    for (int fragment = 0; fragment < tiling.fragments; ++fragment) {
      for (int i = 0; i < fragment_taps; ++i) {  // taps 0, 4, 1, 5, ...
        const int tap = tap_of(shape, plan, step, fragment * fragment_taps + i / 2 + i % 2 * 4);
        const int in_step = tap < 0 ? 0 : tap - step * tiling.channels_per_step * shape.kernel * shape.kernel;
        const int p = in_step / shape.kernel % shape.kernel;
        const int channel = in_step / shape.kernel / shape.kernel;
        const int offset = (channel * tiling.plane_rows + p) * tiling.pitch + in_step % shape.kernel;
        packed.push_back(std::bit_cast<float>(offset));
      }
    }
  }
  const auto weight = [&](int group, int map, int tap) {
    if (tap < 0 || map >= shape.maps_per_group()) return 0.0F;
    return nearest_tf32(weights[(std::int64_t{group} * shape.maps_per_group() + map) * all_taps + tap]);
  };
  for (int tile = 0; tile < shape.groups * tiling.map_tiles; ++tile) {
    for (int step = 0; step < tiling.steps; ++step) {
      for (int fragment = 0; fragment < tiling.fragments; ++fragment) {
        for (int i = 0; i < plan.maps() / 16 * 32 * 4;
             ++i) {  // [16 maps][lane][4], as TensorTile::add_product has a[4]
          const int lane = i / 4 % 32;
          const int map = tile % tiling.map_tiles * plan.maps() + i / 128 * 16 + lane / 4 + i % 2 * 8;
          const int slot = fragment * fragment_taps + lane % 4 + i / 2 % 2 * 4;
          packed.push_back(weight(tile / tiling.map_tiles, map, tap_of(shape, plan, step, slot)));
        }
      }
    }
  }
  return packed;
}

std::string choice(const ConvShape& shape) {
  const Plan plan = plan_of(shape);
  return "tiles of " + std::to_string(plan.maps()) + " maps x " + std::to_string(plan.warps * 32) + " pixels, " +
         std::to_string(plan.tiling.channels_per_step) + " channels per step";
}

const VariantRegistration registration{
    {.family = "cuda",
     .rung = 16,
     .name = "tensor-image",
     .title = "Tensor cores, fragments from the image",
     .builds_on = "tensor-tf32",
     .hypothesis =
         "Inputs are copied once instead of once per tap, and a fragment costs an addition for each element."},
    cuda_variant({.plan = plan, .unsupported = unsupported, .pack = pack, .choice = choice, .tolerance = 1e-3})};

}  // namespace
}  // namespace convladder
