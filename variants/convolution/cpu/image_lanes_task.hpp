// The work of the stage with images in lanes on a group of strips, and how a shape is cut into them. Stage 11 and its
// fused variant share it.
#pragma once

#include <limits>
#include <vector>

#include "variants/convolution/cpu/lane_tasks.hpp"

namespace convladder {

/// The result of `prepare`, which all threads share.
struct ImageLanesPlan {
  static constexpr int kSumBytes = 256 * 1024;     ///< of the sums that wait to be transposed
  static constexpr int kWeightBytes = 256 * 1024;  ///< of the maps that use the same pixels

  ConvShape shape;
  RowWindows windows;
  LaneDivision division;
  InstructionSet set;
  MapTiles map_tiles;
  AlignedFloats weights;
  Strips strips;
  bool past_caches;                           ///< whether outputs bypass the caches
  int tiles_at_once;                          ///< tiles of maps that use the same pixels before the next pixels follow
  std::vector<std::ptrdiff_t> tap_offsets;    ///< offsets of the taps in a tile, in floats
  std::vector<std::ptrdiff_t> pixel_offsets;  ///< offsets of the first taps of a strip's outputs
  std::int64_t pixel_pitch;                   ///< vectors between two maps' sums

  ImageLanesPlan(const ConvShape& s, const RowWindows& of_rows, const float* oihw, const LaneDivision& divided)
      : shape(s),
        windows(of_rows),
        division(divided),
        set(division.set),
        map_tiles(s.maps_per_group(), set.maps),
        weights(pack_weights(s, map_tiles, oihw)),
        strips(s.batch, windows, division.windows),
        past_caches(outgrows_caches(s.output_elements())) {
    const LaneTile tile = input_tile();
    for (int c = 0; c < s.channels_per_group(); ++c) {
      for (int p = 0; p < s.kernel; ++p) {
        for (int q = 0; q < s.kernel; ++q) {
          tap_offsets.push_back((std::ptrdiff_t{c} * tile.plane() + p * tile.pitch() + q) * set.lanes);
        }
      }
    }
    for (int row = 0; row < division.rows; ++row) {
      for (int column = 0; column < s.out_width(); ++column) {
        pixel_offsets.push_back((std::ptrdiff_t{row} * tile.pitch() + column) * s.stride * set.lanes);
      }
    }
    pixel_pitch = static_cast<std::int64_t>(pixel_offsets.size() | 1);
    const std::int64_t tile_sums = bytes_of_sums(s, set, division.rows);
    const std::int64_t tile_weights = std::int64_t{taps()} * set.maps * 4;
    tiles_at_once =
        static_cast<int>(std::max(std::int64_t{1}, std::min(kSumBytes / tile_sums, kWeightBytes / tile_weights)));
  }

  /// All divisions, with costs in cycles: two multiply-adds a cycle, and the time for transposing.
  static std::vector<LaneDivision> divisions(const ConvShape& s, const RowWindows& windows, int threads) {
    constexpr double kTransposing = 5;  // cycles for a vector, read, transposed and written
    const double taps = static_cast<double>(s.channels_per_group()) * s.kernel * s.kernel;
    return lane_divisions(s, windows, threads, 1, [&](const InstructionSet& set, int rows, int tiles) {
      if (rows > windows.rows(1) && bytes_of_sums(s, set, rows) > kSumBytes) {
        return std::numeric_limits<double>::infinity();
      }
      const double inputs = static_cast<double>(s.channels_per_group()) * input_rows_of(s, rows) * s.width;
      const double sums = static_cast<double>(rows) * s.out_width() * tiles * set.maps;
      return sums * (taps / 2 + kTransposing) + inputs * kTransposing;
    });
  }

  int taps() const { return static_cast<int>(tap_offsets.size()); }
  int input_rows(int rows) const { return input_rows_of(shape, rows); }
  LaneTile input_tile() const {
    return {shape, set.lanes, shape.channels_per_group(), input_rows(division.rows), shape.width + 2 * shape.padding};
  }

 private:
  static int input_rows_of(const ConvShape& s, int rows) { return (rows - 1) * s.stride + s.kernel; }
  /// Bytes of the sums of one tile of maps.
  static std::int64_t bytes_of_sums(const ConvShape& s, const InstructionSet& set, int rows) {
    return std::int64_t{rows} * s.out_width() * set.maps * set.lanes * 4;
  }
};

/// Whether there are enough taps: with 25 for each output transposing takes a third of the time and stage 10 is ahead;
/// with 49 it is not.
inline bool has_many_taps(const ConvShape& s) { return s.channels_per_group() * s.kernel * s.kernel > 40; }

/// A thread's workspace.
struct ImageLanesWorkspace {
  LaneTile tile;
  AlignedFloats sums;  ///< [map][pixel][lane], for the maps that use the same pixels

  explicit ImageLanesWorkspace(const ImageLanesPlan& plan)
      : tile(plan.input_tile()),
        sums(std::int64_t{plan.tiles_at_once} * plan.set.maps * plan.pixel_pitch * plan.set.lanes) {}
};

/// A task: a group of strips and a part of the maps. `Store` decides where a map's outputs go (StoreStrips).
template <typename Store>
struct ImageLanesTask {
  const ImageLanesPlan& plan;
  ImageLanesWorkspace& work;
  const LanePart& part;
  const float* input;
  const Store& to;

  template <typename Set>
  static void run(const ImageLanesTask& task) {
    const ConvShape& s = task.plan.shape;
    const MapTiles& map_tiles = task.plan.map_tiles;
    const StripGroup<Set> strips(task.plan.strips, task.part.first_strip);
    task.work.tile.template load<Set>(task.input, task.part.group * s.channels_per_group(), strips,
                                      task.plan.input_rows(strips.rows));
    for (int tile = task.part.first_map_tile; tile < task.part.end_map_tile;) {
      const int end_tile = std::min(task.part.end_map_tile, tile + task.plan.tiles_at_once);
      task.template convolve<Set>(tile, end_tile, strips.rows * s.out_width());
      for (int map = map_tiles.first(tile); map < map_tiles.first(end_tile); ++map) {
        float* const sums = task.work.sums.data() + (map - map_tiles.first(tile)) * task.plan.pixel_pitch * Set::lanes;
        task.to.template store<Set>(strips, task.part.group * s.maps_per_group() + map, sums);
      }
      tile = end_tile;
    }
  }

 private:
  template <typename Set>
  void convolve(int first_tile, int end_tile, int pixels) const {
    for (int pixel = 0; pixel < pixels; pixel += Set::vectors) {
      for (int tile = first_tile; tile < end_tile; ++tile) {
        with_tile_size<Set>(plan.map_tiles.size(tile), std::min(Set::vectors, pixels - pixel),
                            [&](auto maps, auto vectors) {
                              multiply<Set, maps, vectors>(tile, plan.map_tiles.first(first_tile), pixel);
                            });
      }
    }
  }

  template <typename Set, int kMaps, int kVectors>
  void multiply(int map_tile, int first_map, int pixel) const {
    const int map = plan.map_tiles.first(map_tile);
    const float* const weights =
        plan.weights.data() + (std::int64_t{part.group} * plan.map_tiles.maps() + map) * plan.taps();
    const float* pixels[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      pixels[v] =
          work.tile.vectors() + plan.pixel_offsets[static_cast<std::size_t>(pixel) + static_cast<std::size_t>(v)];
    }
    const std::ptrdiff_t* const offsets = plan.tap_offsets.data();
    RegisterTile<Set, kMaps, kVectors> sums;
    sums.clear();
    sums.add_each(plan.taps(), weights, [&](int tap, int v) { return pixels[v] + offsets[tap]; });
    sums.store(work.sums.data() + ((map - first_map) * plan.pixel_pitch + pixel) * Set::lanes,
               plan.pixel_pitch * Set::lanes);
  }
};

}  // namespace convladder
