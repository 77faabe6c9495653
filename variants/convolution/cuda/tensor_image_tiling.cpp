#include "variants/convolution/cuda/tensor_image_tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace convladder {
namespace {

constexpr int kLeastWarps = 2;
constexpr int kMostWarps = 8;

/// Maps times pixels of a layer's tiles, including idle ones.
std::int64_t tiled(const ConvShape& shape, int maps, int warps) {
  const int pixels = warps * warp_threads;
  return std::int64_t{ceil_div(shape.maps_per_group(), maps)} * maps *
         ceil_div(shape.out_height() * shape.out_width(), pixels) * pixels;
}

struct MapsAndWarps {
  int maps;
  int warps;
};

/// All choices, with the fewest idle maps and pixels first; among equals those with the most maps and the most warps
/// first, since an input then serves more of them.
std::vector<MapsAndWarps> by_idleness(const ConvShape& shape) {
  std::vector<MapsAndWarps> all;
  for (const int maps : {64, 32, 16}) {
    for (int warps = kMostWarps; warps >= kLeastWarps; --warps) all.push_back({maps, warps});
  }
  std::ranges::stable_sort(all, {}, [&](const MapsAndWarps& one) { return tiled(shape, one.maps, one.warps); });
  return all;
}

/// The nearest number with tf32's 10 bits of fraction, rounding halves away from zero.
float nearest_tf32(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & 0xffffe000U);
}

/// The tap of a group's filters in a slot of a step's fragments; -1 for slots that only fill up the last fragment.
int tap_of(const ConvShape& shape, const TensorImageTiling& tiling, int step, int slot) {
  const int taps = shape.kernel * shape.kernel;
  const int channel = step * tiling.channels_per_step + slot / taps;
  const bool exists = slot < tiling.channels_per_step * taps && channel < shape.channels_per_group();
  return exists ? channel * taps + slot % taps : -1;
}

/// Where a tap lies in the image of a step, relative to the first tap of a pixel; 0 for a tap that does not exist.
int offset_of(const ConvShape& shape, const TensorImageTiling& tiling, int step, int tap) {
  if (tap < 0) return 0;
  const int in_step = tap - step * tiling.channels_per_step * shape.kernel * shape.kernel;
  const int row = in_step / shape.kernel % shape.kernel;
  const int channel = in_step / shape.kernel / shape.kernel;
  return (channel * tiling.plane_rows + row) * tiling.pitch + in_step % shape.kernel;
}

}  // namespace

TensorImagePlan tensor_image_plan(const ConvShape& shape, Tf32Parts parts, const Configuration& wanted) {
  constexpr std::int64_t kSharedFloats = 32 * 1024 / sizeof(float);
  const MapsAndWarps best = by_idleness(shape).front();
  TensorImagePlan plan;
  plan.maps = wanted.value("maps").value_or(best.maps);
  const int pixels = wanted.value("warps").value_or(best.warps) * warp_threads;
  const int rows = std::min(shape.out_height(), (pixels - 2) / shape.out_width() + 2);
  TensorImageTiling& tiling = plan.tiling;
  tiling.map_tiles = ceil_div(shape.maps_per_group(), plan.maps);
  tiling.plane_rows = (rows - 1) * shape.stride + shape.kernel;
  tiling.pitch = (shape.out_width() - 1) * shape.stride + shape.kernel;
  const std::int64_t plane = std::int64_t{tiling.plane_rows} * tiling.pitch * static_cast<int>(parts);
  const auto fitting = std::clamp<std::int64_t>(kSharedFloats / plane, 1, shape.channels_per_group());
  tiling.steps = ceil_div(shape.channels_per_group(), static_cast<int>(fitting));
  tiling.channels_per_step = ceil_div(shape.channels_per_group(), tiling.steps);
  tiling.steps = ceil_div(shape.channels_per_group(), tiling.channels_per_step);
  tiling.fragments = ceil_div(tiling.channels_per_step * shape.kernel * shape.kernel, fragment_taps);
  plan.grid = {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.groups * tiling.map_tiles),
               static_cast<unsigned>(ceil_div(shape.out_height() * shape.out_width(), pixels))};
  plan.block = {static_cast<unsigned>(pixels), 1, 1};
  plan.shared_bytes = static_cast<std::size_t>(tiling.channels_per_step * plane) * sizeof(float);
  return plan;
}

std::vector<Configuration> tensor_image_configurations(const ConvShape& shape, Tf32Parts parts) {
  std::vector<Configuration> all;
  for (const MapsAndWarps& one : by_idleness(shape)) {
    const Configuration configuration({{"maps", one.maps}, {"warps", one.warps}});
    if (tensor_image_plan(shape, parts, configuration).shared_bytes <= max_shared_bytes) all.push_back(configuration);
  }
  return all;
}

std::string tensor_image_error(const ConvShape& shape, Tf32Parts parts) {
  const TensorImagePlan plan = tensor_image_plan(shape, parts);
  if (plan.shared_bytes > max_shared_bytes) {
    return shared_memory_error("the rows of input under 64 or more output pixels", plan.shared_bytes);
  }
  return grid_error(plan.grid);
}

std::vector<float> pack_for_tensor_image(const ConvShape& shape, const TensorImagePlan& plan, Tf32Parts parts,
                                         const float* weights) {
  const TensorImageTiling& tiling = plan.tiling;
  const std::int64_t all_taps = std::int64_t{shape.channels_per_group()} * shape.kernel * shape.kernel;
  std::vector<float> packed;
  for (int step = 0; step < tiling.steps; ++step) {
    for (int i = 0; i < tiling.fragments * fragment_taps; ++i) {  // taps 0, 4, 1, 5, ... of each fragment
      const int slot = i / fragment_taps * fragment_taps + i % fragment_taps / 2 + i % 2 * 4;
      packed.push_back(std::bit_cast<float>(offset_of(shape, tiling, step, tap_of(shape, tiling, step, slot))));
    }
  }
  const auto weight = [&](int tile, int map_in_tile, int tap, int part) {
    const int map = tile % tiling.map_tiles * plan.maps + map_in_tile;
    if (tap < 0 || map >= shape.maps_per_group()) return 0.0F;
    const float value = weights[(tile / tiling.map_tiles * shape.maps_per_group() + map) * all_taps + tap];
    return part == 0 ? nearest_tf32(value) : nearest_tf32(value - nearest_tf32(value));
  };
  constexpr int kFragment = warp_threads * 4;  // weights of a fragment of 16 maps
  for (int tile = 0; tile < shape.groups * tiling.map_tiles; ++tile) {
    for (int step = 0; step < tiling.steps; ++step) {
      for (int fragment = 0; fragment < tiling.fragments; ++fragment) {
        for (int i = 0; i < plan.maps / 16 * static_cast<int>(parts) * kFragment; ++i) {
          const int maps_and_part = i / kFragment;
          const int lane = i / 4 % warp_threads;
          const int map = maps_and_part / static_cast<int>(parts) * 16 + lane / 4 + i % 2 * 8;
          const int slot = fragment * fragment_taps + lane % 4 + i / 2 % 2 * 4;
          packed.push_back(
              weight(tile, map, tap_of(shape, tiling, step, slot), maps_and_part % static_cast<int>(parts)));
        }
      }
    }
  }
  return packed;
}

std::string tensor_image_choice(const TensorImagePlan& plan) {
  return fmt::format("tiles of {} maps x {} pixels, {} channels per step", plan.maps, plan.block.x,
                     plan.tiling.channels_per_step);
}

}  // namespace convladder
