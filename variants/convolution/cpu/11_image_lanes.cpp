// Stage 11: a vector holds the same pixel of many images.
//
// Compared with stage 8, a lane holds not a pixel but an image, or a strip of rows of one: inputs are transposed into
// [channel][row][column][image], sums back. Then a vector is one output pixel, whatever the width of the image, the
// stride and the padding: no lane is spent at the end of a row, no tap is copied once for each output that it belongs
// to, and every load is one whole cache line, at a place that only depends on the tap. A register tile is maps x
// pixels, all taps of all channels in one go, and neighbouring pixels find most of their inputs in the first-level
// cache. Transposing costs some cycles for each input and output, so it loses where there are few taps for each output
// (one channel); and where there are fewer images than lanes, which then get strips of few rows with much overlap.

#include <fmt/format.h>
#include <omp.h>

#include "variants/convolution/cpu/lane_tasks.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

/// What `prepare` made, the same for all threads.
struct ImageLanesPlan {
  static constexpr int kSumBytes = 256 * 1024;     ///< of the sums that wait for their transposition
  static constexpr int kWeightBytes = 256 * 1024;  ///< of the maps that use the same pixels

  ConvShape shape;
  InstructionSet set;
  MapTiles map_tiles;
  AlignedFloats weights;
  LaneDivision division;
  Strips strips;
  bool past_caches;                           ///< the way of the outputs
  int tiles_at_once;                          ///< of maps, that pass by the same pixels
  std::vector<std::ptrdiff_t> tap_offsets;    ///< in a tile, in floats
  std::vector<std::ptrdiff_t> pixel_offsets;  ///< of a strip's outputs' first taps
  std::int64_t pixel_pitch;                   ///< vectors between two maps' sums

  ImageLanesPlan(const ConvShape& s, const float* oihw, int threads)
      : shape(s),
        set(chosen_instruction_set()),
        map_tiles(s.maps_per_group(), set.maps),
        weights(pack_weights(s, map_tiles, oihw)),
        division(divide(threads)),
        strips(s, division.rows),
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
    const std::int64_t tile_sums = bytes_of_sums(division.rows);
    const std::int64_t tile_weights = std::int64_t{taps()} * set.maps * 4;
    tiles_at_once =
        static_cast<int>(std::max(std::int64_t{1}, std::min(kSumBytes / tile_sums, kWeightBytes / tile_weights)));
  }

  int taps() const { return static_cast<int>(tap_offsets.size()); }
  int input_rows(int rows) const { return (rows - 1) * shape.stride + shape.kernel; }
  LaneTile input_tile() const {
    return {shape, set.lanes, shape.channels_per_group(), input_rows(division.rows), shape.width + 2 * shape.padding};
  }

 private:
  /// Of one tile of maps.
  std::int64_t bytes_of_sums(int rows) const {
    return std::int64_t{rows} * shape.out_width() * set.maps * set.lanes * 4;
  }

  /// In cycles: two multiply-adds a cycle, and what transposing takes.
  LaneDivision divide(int threads) const {
    constexpr double kTransposing = 5;  // cycles for a vector, read, transposed and written
    const double taps = static_cast<double>(shape.channels_per_group()) * shape.kernel * shape.kernel;
    return least_cost_division(shape, set, map_tiles, threads, 1, [&](int rows, int tiles) {
      if (rows > 1 && bytes_of_sums(rows) > kSumBytes) return std::numeric_limits<double>::infinity();
      const double inputs = static_cast<double>(shape.channels_per_group()) * input_rows(rows) * shape.width;
      const double sums = static_cast<double>(rows) * shape.out_width() * tiles * set.maps;
      return sums * (taps / 2 + kTransposing) + inputs * kTransposing;
    });
  }
};

/// What a thread works in.
struct ImageLanesWorkspace {
  LaneTile tile;
  AlignedFloats sums;  ///< [map][pixel][lane], of the maps that use the same pixels

  explicit ImageLanesWorkspace(const ImageLanesPlan& plan)
      : tile(plan.input_tile()),
        sums(std::int64_t{plan.tiles_at_once} * plan.set.maps * plan.pixel_pitch * plan.set.lanes) {}
};

struct ImageLanesTask {
  const ImageLanesPlan& plan;
  ImageLanesWorkspace& work;
  const LanePart& part;
  const float* input;
  float* output;

  template <typename Set>
  static void run(const ImageLanesTask& task) {
    const ConvShape& s = task.plan.shape;
    const MapTiles& map_tiles = task.plan.map_tiles;
    const StripGroup<Set> strips(task.plan.strips, task.part.first_strip);
    task.work.tile.load<Set>(task.input, task.part.group * s.channels_per_group(), strips,
                             task.plan.input_rows(strips.rows));
    for (int tile = task.part.first_map_tile; tile < task.part.end_map_tile;) {
      const int end_tile = std::min(task.part.end_map_tile, tile + task.plan.tiles_at_once);
      task.template convolve<Set>(tile, end_tile, strips.rows * s.out_width());
      for (int map = map_tiles.first(tile); map < map_tiles.first(end_tile); ++map) {
        const float* const sums =
            task.work.sums.data() + (map - map_tiles.first(tile)) * task.plan.pixel_pitch * Set::lanes;
        store_strips<Set>(s, strips, task.part.group * s.maps_per_group() + map, sums, task.plan.past_caches,
                          task.output);
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
      pixels[v] = work.tile.vectors() + plan.pixel_offsets[static_cast<std::size_t>(pixel + v)];
    }
    const std::ptrdiff_t* const offsets = plan.tap_offsets.data();
    RegisterTile<Set, kMaps, kVectors> sums;
    sums.clear();
    sums.add_each(plan.taps(), weights, [&](int tap, int v) { return pixels[v] + offsets[tap]; });
    sums.store(work.sums.data() + ((map - first_map) * plan.pixel_pitch + pixel) * Set::lanes,
               plan.pixel_pitch * Set::lanes);
  }
};

class ImageLanes {
 public:
  ImageLanes(const ConvShape& shape, const float* weights) : plan_(shape, weights, omp_get_max_threads()) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  void convolve(const float* input, float* output) {
    for_each_lane_part(plan_.shape, plan_.set, plan_.map_tiles, plan_.division, plan_.strips,
                       static_cast<int>(workspaces_.size()), [&](const LanePart& part, int thread) {
                         ImageLanesWorkspace& work = workspaces_[static_cast<std::size_t>(thread)];
                         run_with<ImageLanesTask>(plan_.set.kind, ImageLanesTask{plan_, work, part, input, output});
                       });
  }

  std::string choice() const {
    return fmt::format("{}, {} maps x {} pixels x {} strips of {} rows, maps in {} parts", plan_.set.name,
                       plan_.set.maps, plan_.set.vectors, plan_.set.lanes, plan_.division.rows,
                       plan_.division.map_parts);
  }

 private:
  ImageLanesPlan plan_;
  std::vector<ImageLanesWorkspace> workspaces_;
};

/// With 25 taps for each output transposing takes a third of the time, and stage 10 is ahead; with 49 it is not.
bool has_many_taps(const ConvShape& s) { return s.channels_per_group() * s.kernel * s.kernel > 40; }

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 11,
     .name = "image-lanes",
     .title = "Images in lanes",
     .builds_on = "implicit-gemm",
     .hypothesis = "One image per lane: no lane is idle at the end of a row, and no input is copied for each tap."},
    keep_variant(std::make_unique<PreparingCpuVariant<ImageLanes>>(nullptr, has_many_taps))};

}  // namespace
}  // namespace convladder
