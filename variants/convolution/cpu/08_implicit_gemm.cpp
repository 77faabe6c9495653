// Stage 8: an implicit matrix product in blocks for the caches.
//
// A convolution is a product of two matrices: weights, maps x taps, by inputs, taps x output pixels. Against stage 7
// the second matrix is written down, but only a panel of it at a time: the pixels of one register tile, for as many
// taps as stay in the first-level cache while all maps use them. The sums wait in the second-level cache for the next
// panel's taps. In a panel the output pixels lie side by side without the columns of padding between rows, and every
// load is a whole cache line. Lanes are wasted only at the end of an image, and no load is split. Images are cut into
// enough parts of pixels or maps for every core to have work at batch 1 as well. Each input is copied once for each
// tap, so it loses where few maps share the copy, and where kernels of size 1 make it a copy for nothing.

#include <fmt/format.h>
#include <omp.h>

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "variants/convolution/cpu/input_tile.hpp"
#include "variants/convolution/cpu/register_tile.hpp"
#include "variants/convolution/cpu_variant.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

/// How one shape is cut into tasks and blocks. A task is a part of the pixels of one image, and a part of the maps of
/// one group, with all channels.
struct Blocking {
  int channels;     ///< the channels whose taps make a panel
  int pixel_parts;  ///< parts of an image's pixels
  int map_parts;    ///< parts of a group's maps

  static constexpr int kPanelBytes = 24 * 1024;   // a first-level cache has 32 KiB or more; weights pass by in the rest
  static constexpr int kBlockBytes = 512 * 1024;  // a second-level cache has 1 MiB or more

  static constexpr int kFewTaps = 64;    // with fewer taps most of the time goes into loading and storing the sums
  static constexpr int kMostParts = 64;  // parts of the maps, and of the pixels beyond those that the caches ask for

  /// Takes the wanted values, and chooses the others so that blocks fit the caches and all threads are busy.
  Blocking(const ConvShape& s, const InstructionSet& set, const MapTiles& map_tiles, int threads,
           const Configuration& wanted) {
    constexpr int float_bytes = sizeof(float);
    const int taps_of_channel = s.kernel * s.kernel;
    const int most_taps = std::clamp(kBlockBytes / 2 / float_bytes / s.maps_per_group(), kFewTaps,
                                     kPanelBytes / float_bytes / set.tile_pixels());
    const int most_channels = std::clamp(most_taps / taps_of_channel, 1, s.channels_per_group());
    const std::int64_t panels = rounded_up_quotient(s.channels_per_group(), most_channels);
    channels = wanted.value("channels").value_or(static_cast<int>(rounded_up_quotient(s.channels_per_group(), panels)));

    // The weights of a panel's taps and the sums of a part's pixels are used again and again.
    const std::int64_t weight_bytes = std::int64_t{s.maps_per_group()} * channels * taps_of_channel * float_bytes;
    const std::int64_t vector_bytes = std::int64_t{s.maps_per_group()} * set.lanes * float_bytes;
    const std::int64_t most_vectors = std::max<std::int64_t>(set.vectors, (kBlockBytes - weight_bytes) / vector_bytes);
    divide(s, rounded_up_quotient(std::int64_t{s.out_height()} * s.out_width(), set.lanes), most_vectors,
           map_tiles.count(), threads, wanted);
  }

 private:
  /// Chooses the division into tasks that gives the busiest thread the least work. A task costs its vectors of pixels
  /// times its tiles of maps, plus its overhead: one vector for the rows around its pixels, and two tiles for copying
  /// the pixels, which every part of the maps does for itself.
  void divide(const ConvShape& s, std::int64_t vectors, std::int64_t most_vectors, int map_tiles, int threads,
              const Configuration& wanted) {
    const std::optional<int> wanted_pixels = wanted.value("pixel_parts");
    const std::int64_t least_parts = wanted_pixels.value_or(rounded_up_quotient(vectors, most_vectors));
    const std::int64_t most_parts = wanted_pixels.value_or(std::min(vectors, least_parts + kMostParts));
    std::int64_t least_cost = std::numeric_limits<std::int64_t>::max();
    for (int maps = 1; maps <= std::min(map_tiles, kMostParts); ++maps) {
      if (!wanted.allows("map_parts", maps)) continue;
      for (std::int64_t pixels = least_parts; pixels <= most_parts; ++pixels) {
        const std::int64_t rounds = rounded_up_quotient(std::int64_t{s.batch} * s.groups * pixels * maps, threads);
        const std::int64_t cost =
            rounds * (rounded_up_quotient(vectors, pixels) + 1) * (rounded_up_quotient(map_tiles, maps) + 2);
        if (cost >= least_cost) continue;
        least_cost = cost;
        pixel_parts = static_cast<int>(pixels);
        map_parts = maps;
      }
    }
  }
};

/// Lanes of a vector of output pixels that belong to one output row. Their inputs lie side by side in the input tile.
struct Piece {
  int from;        ///< where lane 0 would find its input of the first tap if it were in the same row
  int first_lane;  ///< the piece ends where the next one begins, or with the last lane
};

/// The output pixels of one register tile.
struct Panel {
  int first;   ///< number of its first pixel in the image
  int pixels;  ///< at least one in the last vector
  int vectors;
  int first_vector;  ///< number of its first vector in the plan
};

/// The result of `prepare`, which all threads share.
struct Plan {
  ConvShape shape;
  InstructionSet set;
  int tile_maps;  ///< maps of a register tile, at most
  MapTiles map_tiles;
  AlignedFloats weights;
  Blocking blocking;
  int part_pixels;  ///< output pixels of a part, whole vectors; the last part may have fewer
  int part_panels;
  int part_rows;                 ///< output rows that a part touches, at most
  std::vector<Panel> panels;     ///< panels of an image, part after part
  std::vector<int> first_piece;  ///< first piece of each vector of all panels, and the end of the last
  std::vector<Piece> pieces;
  std::vector<int> tap_offsets;  ///< offsets of a panel's taps in the input tile
  std::ptrdiff_t partial_pitch;  ///< floats between two maps' partial sums

  Plan(const ConvShape& s, const float* oihw, int threads, const Configuration& wanted)
      : shape(s),
        set(chosen_instruction_set()),
        tile_maps(wanted.value("maps").value_or(set.maps)),
        map_tiles(s.maps_per_group(), tile_maps),
        weights(pack_weights(s, map_tiles, oihw)),
        blocking(s, set, map_tiles, threads, wanted) {
    const std::int64_t vectors = rounded_up_quotient(pixels(), set.lanes);
    const std::int64_t part_vectors = rounded_up_quotient(vectors, blocking.pixel_parts);
    part_pixels = static_cast<int>(part_vectors) * set.lanes;
    part_panels = static_cast<int>(rounded_up_quotient(part_vectors, set.vectors));
    part_rows = std::min(s.out_height(), (part_pixels - 2) / s.out_width() + 2);
    // An odd number of cache lines: the maps' sums of one pixel then lie in different sets of a cache.
    partial_pitch = (rounded_up_quotient(part_pixels, 16) | 1) * 16;
    const InputTile tile(s, s.stride, part_rows, blocking.channels);
    for (int part = 0; part * part_pixels < pixels(); ++part) add_panels(tile, part * part_pixels);
    first_piece.push_back(static_cast<int>(pieces.size()));
    tap_offsets = tile.tap_offsets(blocking.channels);
  }

  int pixels() const { return shape.out_height() * shape.out_width(); }
  int taps_of_channel() const { return shape.kernel * shape.kernel; }
  int first_row(int part) const { return part * part_pixels / shape.out_width(); }

 private:
  void add_panels(const InputTile& tile, int part_begin) {
    const int part_end = std::min(pixels(), part_begin + part_pixels);
    for (int first = part_begin; first < part_end; first += set.tile_pixels()) {
      const int count = std::min(set.tile_pixels(), part_end - first);
      panels.push_back({first, count, static_cast<int>(rounded_up_quotient(count, set.lanes)),
                        static_cast<int>(first_piece.size())});
      for (int i = 0; i < count; i += set.lanes) {
        add_vector(tile, part_begin / shape.out_width(), first + i, std::min(set.lanes, count - i));
      }
    }
  }

  void add_vector(const InputTile& tile, int tile_row, int first, int count) {
    first_piece.push_back(static_cast<int>(pieces.size()));
    for (int lane = 0; lane < count;) {
      const int row = (first + lane) / shape.out_width();
      const int column = (first + lane) % shape.out_width();
      pieces.push_back({.from = (row - tile_row) * tile.pitch() + column - lane, .first_lane = lane});
      lane += shape.out_width() - column;
    }
  }
};

/// A thread's workspace.
struct Workspace {
  InputTile tile;
  AlignedFloats panel;    ///< [tap][pixel of the panel]
  AlignedFloats partial;  ///< sums of the taps so far, [map of the group][pixel of the part]

  explicit Workspace(const Plan& plan)
      : tile(plan.shape, plan.shape.stride, plan.part_rows, plan.blocking.channels),
        panel(std::int64_t{plan.blocking.channels} * plan.taps_of_channel() * plan.set.tile_pixels()),
        partial(plan.shape.maps_per_group() * plan.partial_pitch) {}
};

struct Task {
  static constexpr int kMostPieces = 3;  // pieces that are handled at once: rows of eight outputs and more have no more

  const Plan& plan;
  Workspace& work;
  const float* input;  ///< the group's first channel in the image
  float* output;       ///< the group's first map in the image
  int group;
  int part;  ///< number of the part of the pixels
  int first_map_tile;
  int end_map_tile;

  template <typename Set>
  static void run(const Task& task) {
    const ConvShape& s = task.plan.shape;
    const int first_panel = task.part * task.plan.part_panels;
    const int end_panel = std::min(first_panel + task.plan.part_panels, static_cast<int>(task.plan.panels.size()));
    for (int c = 0; c < s.channels_per_group(); c += task.plan.blocking.channels) {
      const int channels = std::min(task.plan.blocking.channels, s.channels_per_group() - c);
      task.work.tile.load(task.input + std::int64_t{c} * s.height * s.width, task.plan.first_row(task.part), channels);
      for (int panel = first_panel; panel < end_panel; ++panel) {
        task.fill_panel<Set>(task.plan.panels[static_cast<std::size_t>(panel)], channels);
        task.multiply_panel<Set>(task.plan.panels[static_cast<std::size_t>(panel)], c, channels);
      }
    }
  }

 private:
  template <typename Set>
  void fill_panel(const Panel& panel, int channels) const {
    const int taps = channels * plan.taps_of_channel();
    for (int v = 0; v < panel.vectors; ++v) {
      const auto vector = static_cast<std::size_t>(panel.first_vector + v);
      const Piece* const pieces = plan.pieces.data() + plan.first_piece[vector];
      const int count = plan.first_piece[vector + 1] - plan.first_piece[vector];
      float* const to = work.panel.data() + v * Set::lanes;
      with_constant<kMostPieces>(std::min(count, kMostPieces), [&](auto pieces_at_once) {
        fill_vector<Set, pieces_at_once, false>(pieces, taps, to);
      });
      for (int i = kMostPieces; i < count; ++i) fill_vector<Set, 1, true>(pieces + i, taps, to);
    }
  }

  /// Copies one vector of pixels for all taps, from `kPieces` pieces; with `kInto`, into a vector that already holds
  /// earlier pieces.
  template <typename Set, int kPieces, bool kInto>
  [[gnu::always_inline]] void fill_vector(const Piece* pieces, int taps, float* to) const {
    const float* const tile = work.tile.pixels();
    const int* const offsets = plan.tap_offsets.data();
    std::ptrdiff_t from[kPieces];  // local copies: a store of pixels cannot change them, so they stay in registers
    Mask<Set> mask[kPieces];       // lanes of the piece and those behind it
#pragma GCC unroll 4
    for (int i = 0; i < kPieces; ++i) {
      from[i] = pieces[i].from;
      set_lanes_from<Set>(mask[i], pieces[i].first_lane);
    }
    for (int tap = 0; tap < taps; ++tap, to += Set::vectors * Set::lanes) {
      const float* const inputs = tile + offsets[tap];
      Vector<Set> pixels;
      load_vector(pixels, kInto ? to : inputs + from[0]);
#pragma GCC unroll 4
      for (int i = kInto ? 0 : 1; i < kPieces; ++i) {
        Vector<Set> piece;
        load_vector(piece, inputs + from[i]);
        pixels = mask[i] ? piece : pixels;
      }
      store_vector(to, pixels);
    }
  }

  template <typename Set>
  void multiply_panel(const Panel& panel, int first_channel, int channels) const {
    for (int tile = first_map_tile; tile < end_map_tile; ++tile) {
      with_tile_size<Set>(plan.map_tiles.size(tile), panel.vectors, [&](auto maps, auto vectors) {
        multiply_tile<Set, maps, vectors>(panel, tile, first_channel, channels);
      });
    }
  }

  template <typename Set, int kMaps, int kVectors>
  void multiply_tile(const Panel& panel, int map_tile, int first_channel, int channels) const {
    const int first_map = plan.map_tiles.first(map_tile);
    const int group_channels = plan.shape.channels_per_group();
    const std::int64_t packed_map = std::int64_t{group} * plan.map_tiles.maps() + first_map;
    const float* const weights =
        plan.weights.data() +
        (packed_map * group_channels + std::int64_t{first_channel} * kMaps) * plan.taps_of_channel();
    float* const partial =
        work.partial.data() + first_map * plan.partial_pitch + (panel.first - part * plan.part_pixels);
    RegisterTile<Set, kMaps, kVectors> sums;
    if (first_channel == 0) {
      sums.clear();
    } else {
      sums.load(partial, plan.partial_pitch);
    }
    const float* const pixels = work.panel.data();
    sums.add(channels * plan.taps_of_channel(), weights,
             [&](int tap) { return pixels + std::ptrdiff_t{tap} * (Set::vectors * Set::lanes); });
    if (first_channel + channels < group_channels) {
      sums.store(partial, plan.partial_pitch);
    } else {
      sums.store(output + std::int64_t{first_map} * plan.pixels() + panel.first, plan.pixels(), panel.pixels);
    }
  }
};

/// The largest values that may be wanted for a shape, each at least 1: maps of a register tile, channels of a panel,
/// parts of an image's pixels and parts of a group's maps.
Configuration largest_configuration(const ConvShape& s, const Configuration& wanted) {
  const InstructionSet set = chosen_instruction_set();
  const MapTiles map_tiles(s.maps_per_group(), std::min(wanted.value("maps").value_or(set.maps), set.maps));
  const auto vectors = rounded_up_quotient(std::int64_t{s.out_height()} * s.out_width(), set.lanes);
  return Configuration({{"maps", set.maps},
                        {"channels", s.channels_per_group()},
                        {"pixel_parts", static_cast<int>(vectors)},
                        {"map_parts", std::min(map_tiles.count(), Blocking::kMostParts)}});
}

/// The complete configuration that agrees with `wanted`.
Configuration complete_configuration(const ConvShape& s, const Configuration& wanted) {
  const InstructionSet set = chosen_instruction_set();
  const int maps = wanted.value("maps").value_or(set.maps);
  const Blocking blocking(s, set, MapTiles(s.maps_per_group(), maps), omp_get_max_threads(), wanted);
  return Configuration({{"maps", maps},
                        {"channels", blocking.channels},
                        {"pixel_parts", blocking.pixel_parts},
                        {"map_parts", blocking.map_parts}});
}

class ImplicitGemm {
 public:
  ImplicitGemm(const ConvShape& shape, const float* weights, const Configuration& wanted)
      : plan_(shape, weights, omp_get_max_threads(), wanted) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  static std::string impossible(const ConvShape& s, const Configuration& wanted) {
    const Configuration largest = largest_configuration(s, wanted);
    for (const Parameter& parameter : wanted.parameters()) {
      const std::optional<int> most = largest.value(parameter.name);
      if (!most) return impossible_configuration(wanted, std::span(&largest, 1), shape_name(s));
      if (parameter.value > *most) {
        return fmt::format("{}={} is not possible for {}; possible: 1 to {}", parameter.name, parameter.value,
                           shape_name(s), *most);
      }
    }
    return {};
  }

  /// The model's choice, then variations of it in one number at a time: half, twice, one less, one more.
  static Configurations configurations(const ConvShape& s, const Configuration& wanted, int most) {
    const Configuration by_model = complete_configuration(s, wanted);
    std::vector<Configuration> all = {by_model};
    for (const auto& change : {+[](int value) { return value / 2; }, +[](int value) { return value * 2; },
                               +[](int value) { return value - 1; }, +[](int value) { return value + 1; }}) {
      for (const Parameter& parameter : by_model.parameters()) {
        const Configuration other({{parameter.name, std::max(1, change(parameter.value))}});
        const Configuration changed = wanted.with(other);
        if (wanted.agrees_with(changed) && impossible(s, changed).empty())
          all.push_back(complete_configuration(s, changed));
      }
    }
    long possible = 1;
    const Configuration largest_of_all = largest_configuration(s, wanted);
    for (const Parameter& largest : largest_of_all.parameters()) {
      if (!wanted.value(largest.name)) possible *= largest.value;
    }
    return {candidates_of(all, wanted, most), by_model, possible, {"pixel_parts", "map_parts"}};
  }

  void convolve(const float* input, float* output) {
    const std::int64_t tasks =
        std::int64_t{plan_.shape.batch} * plan_.shape.groups * plan_.blocking.pixel_parts * plan_.blocking.map_parts;
    const int threads = static_cast<int>(workspaces_.size());
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::int64_t i = 0; i < tasks; ++i) {
      Workspace& work = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
      run_with<Task>(plan_.set.kind, task(i, work, input, output));
    }
  }

  std::string choice() const {
    return fmt::format("{}, {} maps x {} pixels, panels of {} channels, images in {} x {} parts", plan_.set.name,
                       plan_.tile_maps, plan_.set.tile_pixels(), plan_.blocking.channels, plan_.blocking.pixel_parts,
                       plan_.blocking.map_parts);
  }

 private:
  Task task(std::int64_t index, Workspace& work, const float* input, float* output) const {
    const ConvShape& s = plan_.shape;
    const Blocking& blocking = plan_.blocking;
    const int map_part = static_cast<int>(index % blocking.map_parts);
    index /= blocking.map_parts;
    const int part = static_cast<int>(index % blocking.pixel_parts);
    index /= blocking.pixel_parts;
    const int group = static_cast<int>(index % s.groups);
    const std::int64_t image = index / s.groups;
    const std::int64_t first_channel = std::int64_t{group} * s.channels_per_group();
    const std::int64_t first_map = std::int64_t{group} * s.maps_per_group();
    return {.plan = plan_,
            .work = work,
            .input = input + image * s.input_elements_per_image() + first_channel * s.height * s.width,
            .output = output + image * s.output_elements_per_image() + first_map * plan_.pixels(),
            .group = group,
            .part = part,
            .first_map_tile = plan_.map_tiles.count() * map_part / blocking.map_parts,
            .end_map_tile = plan_.map_tiles.count() * (map_part + 1) / blocking.map_parts};
  }

  Plan plan_;
  std::vector<Workspace> workspaces_;
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 8,
     .name = "implicit-gemm",
     .title = "Implicit GEMM, cache blocks",
     .builds_on = "register-tile",
     .hypothesis = "All maps read pixels from the first-level cache, and no lane is wasted between rows."},
    keep_variant(std::make_unique<TunableCpuVariant<ImplicitGemm>>())};

}  // namespace
}  // namespace convladder
