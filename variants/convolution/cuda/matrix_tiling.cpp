#include "variants/convolution/cuda/matrix_tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace convladder {
namespace {

/// The instructions of a block per tap, up to a common factor: the multiply-adds of its tile, and the gathering of its
/// inputs at a dozen instructions for each.
double cost(const ConvShape& shape, const MatrixTileSize& size) {
  const double blocks =
      1.0 * ceil_div(shape.maps_per_group(), size.maps) * ceil_div(shape.out_height() * shape.out_width(), size.pixels);
  return blocks * size.pixels * (size.maps * 1.25 + 12);
}

Configuration configuration_of(const MatrixTileSize& size) {
  return Configuration({{"maps", size.maps}, {"pixels", size.pixels}});
}

/// The places of all taps of a group; there are `taps` of them, including those that only fill the last step.
std::vector<TapPlace> tap_places(const ConvShape& shape, int taps) {
  constexpr std::int16_t kOutside = std::numeric_limits<std::int16_t>::max();
  std::vector<TapPlace> places;
  for (int channel = 0; channel < shape.channels_per_group(); ++channel) {
    for (int p = 0; p < shape.kernel; ++p) {
      for (int q = 0; q < shape.kernel; ++q) {
        places.push_back({(channel * shape.height + p) * shape.width + q, static_cast<std::int16_t>(p),
                          static_cast<std::int16_t>(q)});
      }
    }
  }
  places.resize(static_cast<std::size_t>(taps), {0, kOutside, kOutside});
  return places;
}

}  // namespace

MatrixTilePlan matrix_tile_plan(const ConvShape& shape, std::span<const MatrixTileSize> compiled,
                                const Configuration& wanted) {
  MatrixTilePlan plan;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < compiled.size(); ++index) {
    const MatrixTileSize& size = compiled[index];
    if (!(cost(shape, size) < lowest) || !wanted.agrees_with(configuration_of(size))) continue;
    lowest = cost(shape, size);
    plan.compiled = index;
    plan.size = size;
  }
  const int taps = shape.channels_per_group() * shape.kernel * shape.kernel;
  plan.tiling = {ceil_div(taps, taps_per_step) * taps_per_step, ceil_div(shape.maps_per_group(), plan.size.maps)};
  plan.grid = {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.groups * plan.tiling.map_tiles),
               static_cast<unsigned>(ceil_div(shape.out_height() * shape.out_width(), plan.size.pixels))};
  plan.block = {static_cast<unsigned>(plan.size.pixels), 1, 1};
  return plan;
}

std::vector<Configuration> matrix_tile_configurations(const ConvShape& shape,
                                                      std::span<const MatrixTileSize> compiled) {
  std::vector<MatrixTileSize> sizes(compiled.begin(), compiled.end());
  std::ranges::stable_sort(sizes, {}, [&](const MatrixTileSize& size) { return cost(shape, size); });
  std::vector<Configuration> all;
  for (const MatrixTileSize& size : sizes) all.push_back(configuration_of(size));
  return all;
}

std::string matrix_tile_error(const ConvShape& shape, std::span<const MatrixTileSize> compiled) {
  // A row number beyond every image marks the taps that only fill up; it has to stay beyond when a pixel's row is
  // added.
  constexpr int kLargest = 16383;
  if (shape.height + shape.padding > kLargest || shape.width + shape.padding > kLargest) {
    return fmt::format("the tables of taps are for images of at most {0} x {0} pixels", kLargest);
  }
  return grid_error(matrix_tile_plan(shape, compiled).grid);
}

std::vector<float> pack_for_matrix_tile(const ConvShape& shape, const MatrixTilePlan& plan, const float* weights) {
  const int taps = shape.channels_per_group() * shape.kernel * shape.kernel;
  const auto places = tap_places(shape, plan.tiling.taps);
  const auto table = static_cast<std::size_t>(plan.tiling.taps * floats_per_tap_place);
  const auto tiles = static_cast<std::size_t>(shape.groups * plan.tiling.map_tiles);
  std::vector<float> packed(table + tiles * static_cast<std::size_t>(plan.tiling.taps * plan.size.maps));
  std::memcpy(packed.data(), places.data(), places.size() * sizeof(TapPlace));
  auto to = packed.begin() + static_cast<std::ptrdiff_t>(table);
  for (int group = 0; group < shape.groups; ++group) {
    for (int tile = 0; tile < plan.tiling.map_tiles; ++tile) {
      for (int tap = 0; tap < plan.tiling.taps; ++tap) {
        for (int i = 0; i < plan.size.maps; ++i, ++to) {
          const int map = tile * plan.size.maps + i;
          if (tap < taps && map < shape.maps_per_group()) {
            *to = weights[(group * shape.maps_per_group() + map) * taps + tap];
          }
        }
      }
    }
  }
  return packed;
}

std::string matrix_tile_choice(const MatrixTilePlan& plan) {
  return fmt::format("tiles of {} maps x {} pixels", plan.size.maps, plan.size.pixels);
}

}  // namespace convladder
