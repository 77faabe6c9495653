#include "variants/convolution/cuda/map_loop_tiling.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace convladder {
namespace {

/// Elements of one channel's input under rows x columns output pixels, halo included.
std::int64_t input_plane(const ConvShape& shape, int rows, int columns) {
  return (std::int64_t{rows - 1} * shape.stride + shape.kernel) *
         (std::int64_t{columns - 1} * shape.stride + shape.kernel);
}

std::int64_t shared_elements(const ConvShape& shape, const MapLoopTiling& tiling) {
  const std::int64_t taps = std::int64_t{shape.kernel} * shape.kernel;
  return tiling.channels_per_step * (input_plane(shape, tiling.rows, tiling.columns) + tiling.maps_per_step * taps);
}

/// The instructions of a thread for one image and group, up to a common factor: the taps of every step, and its share
/// of the elements the block copies. A copy costs a few instructions of index arithmetic where a tap costs three.
double cost(const ConvShape& shape, const MapLoopTiling& tiling) {
  const double taps = 1.0 * shape.channels_per_group() * shape.kernel * shape.kernel;
  const double tiles = 1.0 * ceil_div(shape.out_height(), tiling.rows) * ceil_div(shape.out_width(), tiling.columns);
  const double map_steps = ceil_div(shape.maps_per_group(), tiling.maps_per_step);
  const bool input_stays =
      tiling.channels_per_step == shape.channels_per_group() && tiling.maps_per_block > tiling.maps_per_step;
  const double input_copies = static_cast<double>(input_plane(shape, tiling.rows, tiling.columns)) *
                              shape.channels_per_group() * (input_stays ? 1.0 : map_steps);
  const double filter_copies = taps * shape.maps_per_group();
  return tiles * (map_steps * taps + 4.0 * (input_copies + filter_copies) / max_threads_per_block);
}

/// The tiling for tiles of rows x columns: as many maps per step as there are threads, as many channels as fit.
std::optional<MapLoopTiling> tiling_for(const ConvShape& shape, int rows, int columns) {
  constexpr std::int64_t capacity = max_shared_bytes / sizeof(float);
  const bool maps_in_block = shape.batch >= images_that_fill_a_gpu;
  for (int maps = std::min(shape.maps_per_group(), max_threads_per_block / (rows * columns)); maps >= 1; maps /= 2) {
    MapLoopTiling tiling{rows, columns, maps, maps_in_block ? shape.maps_per_group() : maps, 1};
    const std::int64_t channels = capacity / shared_elements(shape, tiling);
    if (channels == 0) continue;
    tiling.channels_per_step = static_cast<int>(std::min<std::int64_t>(channels, shape.channels_per_group()));
    return tiling;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MapLoopPlan> map_loop_plan(const ConvShape& shape) {
  std::optional<MapLoopTiling> best;
  // Whole rows of output pixels if they fit, so that only the last thread of a tile has no neighbour; otherwise parts
  // of rows.
  for (int columns = std::min(shape.out_width(), max_threads_per_block); columns >= 1 && !best; columns /= 2) {
    double best_cost = std::numeric_limits<double>::infinity();
    for (int rows = std::min(shape.out_height(), max_threads_per_block / columns); rows >= 1; --rows) {
      const std::optional<MapLoopTiling> tiling = tiling_for(shape, rows, columns);
      if (!tiling || cost(shape, *tiling) >= best_cost) continue;
      best = tiling;
      best_cost = cost(shape, *tiling);
    }
  }
  if (!best) return std::nullopt;
  const Dim3 grid{static_cast<unsigned>(shape.batch),
                  static_cast<unsigned>(ceil_div(shape.maps_per_group(), best->maps_per_block)),
                  static_cast<unsigned>(shape.groups)};
  return MapLoopPlan{*best, grid, static_cast<std::size_t>(shared_elements(shape, *best)) * sizeof(float)};
}

std::string map_loop_error(const ConvShape& shape) {
  const std::optional<MapLoopPlan> plan = map_loop_plan(shape);
  if (!plan) {
    const auto bytes = static_cast<std::size_t>(shared_elements(shape, {1, 1, 1, 1, 1})) * sizeof(float);
    return shared_memory_error("one window of the input and one filter", bytes);
  }
  return grid_error(plan->grid);
}

}  // namespace convladder
