// The tasks of the stages that keep images in lanes: a group of strips, and a part of the maps of one group of
// channels.
#pragma once

#include <omp.h>

#include <cmath>
#include <limits>

#include "variants/convolution/cpu/lane_strips.hpp"
#include "variants/convolution/cpu/register_tile.hpp"

namespace convladder {

/// How a shape is cut into tasks.
struct LaneDivision {
  int windows = 1;    ///< of rows in a strip (RowWindows)
  int rows = 1;       ///< output rows of a strip
  int map_parts = 1;  ///< of a group of channels
};

/// One of them.
struct LanePart {
  std::int64_t first_strip;
  int group;  ///< of channels
  int first_map_tile;
  int end_map_tile;
};

inline std::int64_t strip_groups(const Strips& strips, const InstructionSet& set) {
  return (strips.count() + set.lanes - 1) / set.lanes;
}

/// The division with the least work for the thread that works longest, among strips of a multiple of `step` windows.
/// cost(rows, map_tiles) is the time of a task with strips of so many rows, in any unit; infinite if there must be
/// none.
template <typename Cost>
LaneDivision least_cost_division(const ConvShape& s, const RowWindows& windows, const InstructionSet& set,
                                 const MapTiles& map_tiles, int threads, int step, const Cost& cost) {
  constexpr int kMostMapParts = 64;
  LaneDivision best;
  double least = std::numeric_limits<double>::infinity();
  const int steps = (windows.count + step - 1) / step;
  for (int bands = 1; bands <= steps; ++bands) {
    const int at_once = (steps + bands - 1) / bands * step;
    const int rows = windows.rows(at_once);
    const Strips strips(s.batch, windows, at_once);
    // The last strips of the images come last, and may have fewer rows.
    const int last_rows = windows.rows((windows.count - 1) % at_once + 1);
    const std::int64_t all = strip_groups(strips, set);
    const std::int64_t last = last_rows == rows ? 0 : s.batch / set.lanes;
    for (int parts = 1; parts <= std::min(kMostMapParts, map_tiles.count()); ++parts) {
      const int part_tiles = (map_tiles.count() + parts - 1) / parts;
      const double full_cost = cost(rows, part_tiles);
      const double last_cost = cost(last_rows, part_tiles);
      const std::int64_t full_tasks = (all - last) * s.groups * parts;
      const auto left = static_cast<double>(full_tasks % threads);
      const double rest = left * full_cost + static_cast<double>(last * s.groups * parts) * last_cost;
      const double rounds_of_rest = std::ceil(rest / last_cost / threads - 1e-9);
      const double time = static_cast<double>(full_tasks / threads) * full_cost +
                          std::max(left > 0 ? full_cost : 0, last > 0 ? rounds_of_rest * last_cost : 0);
      if (!(time < least)) continue;
      least = time;
      best = {at_once, rows, parts};
    }
  }
  return best;
}

/// Calls body(part, thread) for every part of the convolution, over `threads` threads.
template <typename Body>
void for_each_lane_part(const ConvShape& s, const InstructionSet& set, const MapTiles& map_tiles,
                        const LaneDivision& division, const Strips& strips, int threads, const Body& body) {
  const std::int64_t parts_of_strips = std::int64_t{s.groups} * division.map_parts;
  const std::int64_t count = strip_groups(strips, set) * parts_of_strips;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic) nowait
    for (std::int64_t i = 0; i < count; ++i) {
      const int part = static_cast<int>(i % parts_of_strips);
      const int map_part = part % division.map_parts;
      body(LanePart{.first_strip = i / parts_of_strips * set.lanes,
                    .group = part / division.map_parts,
                    .first_map_tile = map_tiles.count() * map_part / division.map_parts,
                    .end_map_tile = map_tiles.count() * (map_part + 1) / division.map_parts},
           omp_get_thread_num());
    }
    finish_streams();
  }
}

}  // namespace convladder
