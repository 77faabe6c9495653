// The tasks of the stages that keep images in lanes: a group of strips, and a part of the maps of one group of
// channels.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "variants/configuration.hpp"
#include "variants/convolution/cpu/lane_strips.hpp"
#include "variants/convolution/cpu/register_tile.hpp"

namespace convladder {

/// How a shape is cut into tasks.
struct LaneDivision {
  InstructionSet set;  ///< its lanes hold the strips
  int windows = 1;     ///< windows of rows in a strip (RowWindows)
  int rows = 1;        ///< output rows of a strip
  int map_parts = 1;   ///< parts of a group's maps
  double cycles = 0;   ///< time of the busiest thread, as the model expects
};

/// One task.
struct LanePart {
  std::int64_t first_strip;
  int group;  ///< group of channels
  int first_map_tile;
  int end_map_tile;
};

inline std::int64_t strip_groups(const Strips& strips, const InstructionSet& set) {
  return (strips.count() + set.lanes - 1) / set.lanes;
}

/// All divisions whose strips have a multiple of `step` windows, with the one first that gives the busiest thread the
/// least work. cost(set, rows, map_tiles) is the time of a task whose strips have `rows` rows, in cycles that each take
/// a vector; infinite if there must be no such task. There is at least one division.
template <typename Cost>
std::vector<LaneDivision> lane_divisions(const ConvShape& s, const RowWindows& windows, int threads, int step,
                                         const Cost& cost,
                                         const std::vector<InstructionSet>& sets = instruction_sets_to_choose_from()) {
  constexpr int kMostMapParts = 64;
  std::vector<LaneDivision> all;
  const int steps = (windows.count + step - 1) / step;
  for (const InstructionSet& set : sets) {
    const MapTiles map_tiles(s.maps_per_group(), set.maps);
    for (int bands = 1; bands <= steps; ++bands) {
      const int at_once = (steps + bands - 1) / bands * step;
      if (bands > 1 && at_once == (steps + bands - 2) / (bands - 1) * step) continue;
      const int rows = windows.rows(at_once);
      const Strips strips(s.batch, windows, at_once);
      // The last strips of the images come last, and may have fewer rows.
      const int last_rows = windows.rows((windows.count - 1) % at_once + 1);
      const std::int64_t groups = strip_groups(strips, set);
      const std::int64_t last = last_rows == rows ? 0 : s.batch / set.lanes;
      for (int parts = 1; parts <= std::min(kMostMapParts, map_tiles.count()); ++parts) {
        const int part_tiles = (map_tiles.count() + parts - 1) / parts;
        const double full_cost = cost(set, rows, part_tiles);
        const double last_cost = cost(set, last_rows, part_tiles);
        if (std::isinf(full_cost) || std::isinf(last_cost)) continue;
        const std::int64_t full_tasks = (groups - last) * s.groups * parts;
        const std::int64_t whole_rounds = full_tasks / threads;
        const auto left = static_cast<double>(full_tasks % threads);
        const double rest = left * full_cost + static_cast<double>(last * s.groups * parts) * last_cost;
        const double rounds_of_rest = std::ceil(rest / last_cost / threads - 1e-9);
        const double time = static_cast<double>(whole_rounds) * full_cost +
                            std::max(left > 0 ? full_cost : 0, last > 0 ? rounds_of_rest * last_cost : 0);
        all.push_back({set, at_once, rows, parts, time * cycles_of_vector(set)});
      }
    }
  }
  std::ranges::stable_sort(all, {}, &LaneDivision::cycles);
  return all;
}

/// The parameters "lanes", "rows" of a strip (pooled rows where they are pooled) and "map_parts".
inline Configuration configuration_of(const LaneDivision& division) {
  return Configuration({{"lanes", division.set.lanes}, {"rows", division.windows}, {"map_parts", division.map_parts}});
}

/// The first division that agrees with `wanted`; there must be one.
inline LaneDivision first_that_agrees(const std::vector<LaneDivision>& all, const Configuration& wanted) {
  return *std::ranges::find_if(all, [&](const LaneDivision& one) { return wanted.agrees_with(configuration_of(one)); });
}

/// The divisions as a tunable variant's configurations (cpu_variant.hpp).
inline std::vector<Configuration> configurations_of(const std::vector<LaneDivision>& all) {
  std::vector<Configuration> result;
  result.reserve(all.size());
  for (const LaneDivision& division : all) result.push_back(configuration_of(division));
  return result;
}
inline Configurations lane_configurations(const std::vector<LaneDivision>& all, const Configuration& wanted, int most) {
  const std::vector<Configuration> agreeing =
      candidates_of(configurations_of(all), wanted, static_cast<int>(all.size()));
  return {{agreeing.begin(), agreeing.begin() + std::min(most, static_cast<int>(agreeing.size()))},
          agreeing.front(),
          static_cast<long>(agreeing.size()),
          {"lanes", "rows", "map_parts"}};
}

/// Calls body(part, thread) for every part of the convolution, over `threads` threads.
template <typename Body>
void for_each_lane_part(const ConvShape& s, const MapTiles& map_tiles, const LaneDivision& division,
                        const Strips& strips, int threads, const Body& body) {
  const InstructionSet& set = division.set;
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
