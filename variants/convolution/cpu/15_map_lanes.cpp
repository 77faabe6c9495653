// Stage 15: output maps in the lanes.
//
// Against stage 8 a vector holds neighbouring maps of one pixel, and not neighbouring pixels of one map: the weights
// are packed once in that order, and a pixel's input is read where it lies and broadcast. Nothing is copied for a tile
// but the border of a padded image, no lane waits for a pixel that does not exist, and a single image is shared out by
// maps. So it relieves wide layers of few pixels, as those of a batch of one image: there stage 8 copies nearly as much
// as it computes, and stages 11 and 12 have no images for their lanes. It loses where there are fewer maps than lanes,
// and where a batch has enough images for stage 12. The outputs are transposed once, when all channels are done.

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "variants/convolution/cpu/lane_transpose.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu/tile_convolution.hpp"
#include "variants/convolution/cpu/winograd_model.hpp"
#include "variants/convolution/cpu_variant.hpp"
#include "variants/vector_lanes.hpp"
#include "variants/vector_tile.hpp"

namespace convladder {
namespace {

constexpr int kWeightsAtOnce = 48 * 1024;  // floats of a panel that stay in the second-level cache for all its pixels

/// Sizes, how the work is cut, and the weights in order: [group][panel of maps][tap][map of the panel].
struct MapLanesPlan {
  ConvShape shape;
  InstructionSet set;
  int vectors;                        ///< vectors of a group's maps
  int panels;                         ///< panels that the maps are cut into, of nearly equal size
  int pixel_parts;                    ///< parts of an image's pixels
  int channels;                       ///< channels whose products are summed at once
  int pitch;                          ///< floats of an input row with its padding
  std::int64_t plane;                 ///< floats of a channel with its padding
  std::vector<std::int64_t> offsets;  ///< offsets of the taps of `channels` channels in the padded input
  AlignedFloats weights;

  MapLanesPlan(const ConvShape& s, const float* rows, int threads)
      : shape(s),
        set(chosen_instruction_set()),
        vectors(rounded_up_quotient(s.maps_per_group(), set.lanes)),
        panels(rounded_up_quotient(vectors, set.vectors)),
        pixel_parts(least_work_parts(threads)),
        channels(std::clamp(kWeightsAtOnce / (s.kernel * s.kernel * set.tile_pixels()), 1, s.channels_per_group())),
        pitch(s.width + 2 * s.padding),
        plane(std::int64_t{pitch} * (s.height + 2 * s.padding)),
        weights(std::int64_t{s.groups} * vectors * set.lanes * taps()) {
    for (int c = 0; c < channels; ++c) {
      for (int tap = 0; tap < s.kernel * s.kernel; ++tap) {
        offsets.push_back(c * plane + std::int64_t{tap} / s.kernel * pitch + tap % s.kernel);
      }
    }
    pack(rows);
  }

  int pixels() const { return shape.out_height() * shape.out_width(); }
  std::int64_t taps() const { return std::int64_t{shape.channels_per_group()} * shape.kernel * shape.kernel; }
  int first_vector(int panel) const { return vectors * panel / panels; }
  int first_pixel(int part) const { return static_cast<int>(std::int64_t{pixels()} * part / pixel_parts); }
  const float* panel_weights(int group, int panel) const {
    return weights.data() + (std::int64_t{group} * vectors + first_vector(panel)) * set.lanes * taps();
  }

 private:
  /// As few parts as keep all threads busy; each part reads all weights of its panel.
  int least_work_parts(int threads) const {
    const int tiles = rounded_up_quotient(pixels(), set.maps);
    int best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (int parts = 1; parts <= std::min(tiles, threads); ++parts) {
      const double work = static_cast<double>(rounded_up_quotient(shape.groups * panels * parts, threads)) *
                          rounded_up_quotient(tiles, parts);
      if (!(work < 0.98 * least)) continue;
      least = work;
      best = parts;
    }
    return best;
  }

  void pack(const float* rows) {
    const std::int64_t all_taps = taps();
    const int maps = shape.maps_per_group();
#pragma omp parallel for collapse(2) schedule(static)
    for (int group = 0; group < shape.groups; ++group) {
      for (int panel = 0; panel < panels; ++panel) {
        const int first = first_vector(panel) * set.lanes;
        const int width = first_vector(panel + 1) * set.lanes - first;
        float* const to = weights.data() + (std::int64_t{group} * vectors * set.lanes + first) * all_taps;
        for (int m = 0; m < std::min(width, maps - first); ++m) {
          const float* const from = rows + (std::int64_t{group} * maps + first + m) * all_taps;
          for (std::int64_t tap = 0; tap < all_taps; ++tap) to[tap * width + m] = from[tap];
        }
      }
    }
  }
};

/// A task: some pixels of one image and one panel of maps.
struct MapLanesTask {
  const MapLanesPlan& plan;
  int group;
  int panel;
  int part;
  const float* input;  ///< the group's channels of the image, with their padding
  float* sums;         ///< a thread's own: [vector][pixel of the part][lane]
  float* output;       ///< the group's maps of the image

  template <typename Set>
  static void run(const MapLanesTask& task) {
    const int vectors = task.plan.first_vector(task.panel + 1) - task.plan.first_vector(task.panel);
    with_constant<Set::vectors>(
        vectors, [&](auto count) __attribute__((always_inline)) { task.convolve<Set, count>(); });
  }

 private:
  int first() const { return plan.first_pixel(part); }
  int pixels() const { return plan.first_pixel(part + 1) - first(); }

  template <typename Set, int kVectors>
  [[gnu::always_inline]] void convolve() const {
    const ConvShape& s = plan.shape;
    const int tiles = rounded_up_quotient(pixels(), Set::maps);
    for (int channel = 0; channel < s.channels_per_group(); channel += plan.channels) {
      for (int tile = 0; tile < tiles; ++tile) {
        const int begin = static_cast<int>(std::int64_t{pixels()} * tile / tiles);
        const int end = static_cast<int>(std::int64_t{pixels()} * (tile + 1) / tiles);
        with_constant<Set::maps>(end - begin,
                                 [&](auto count) { multiply<Set, count, kVectors>(begin, channel, tile, tiles); });
      }
    }
    for (int v = 0; v < kVectors; ++v) store<Set>(v);
  }

  /// Adds up the channels from `channel` on for the pixels from `begin` on. Meanwhile the next channels' weights, which
  /// may come from memory, are prefetched into the second-level cache: each of the `tiles` asks for its share of them.
  template <typename Set, int kPixels, int kVectors>
  [[gnu::always_inline]] void multiply(int begin, int channel, int tile, int tiles) const {
    const ConvShape& s = plan.shape;
    constexpr int kWidth = kVectors * Set::lanes;
    const float* from[kPixels];
    for (int p = 0; p < kPixels; ++p) {
      const int pixel = first() + begin + p;
      const int row = pixel / s.out_width();
      from[p] = input + channel * plan.plane + std::ptrdiff_t{row} * s.stride * plan.pitch +
                (pixel - row * s.out_width()) * s.stride;
    }
    const int taps = std::min(plan.channels, s.channels_per_group() - channel) * s.kernel * s.kernel;
    const float* w = plan.panel_weights(group, panel) + std::int64_t{channel} * s.kernel * s.kernel * kWidth;
    const std::int64_t* const offsets = plan.offsets.data();
    const std::ptrdiff_t ahead = rounded_up_quotient(kWidth * static_cast<int>(sizeof(float)), tiles);  // bytes
    const char* next = reinterpret_cast<const char*>(w + std::ptrdiff_t{taps} * kWidth) + ahead * taps * tile;
    RegisterTile<Set, kPixels, kVectors> sum;
    sum.clear();
    for (int tap = 0; tap < taps; ++tap, w += kWidth, next += ahead) {
      const std::int64_t offset = offsets[tap];
      __builtin_prefetch(next, 0, 2);
      Vector<Set> weights[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) load_vector(weights[v], w + v * Set::lanes);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        const float pixel = from[p][offset];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) sum.sums[p][v] += weights[v] * pixel;
      }
    }
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        float* const to = sums + (std::ptrdiff_t{v} * pixels() + begin + p) * Set::lanes;
        if (channel > 0) {
          Vector<Set> before;
          load_vector(before, to);
          sum.sums[p][v] += before;
        }
        store_vector(to, sum.sums[p][v]);
      }
    }
  }

  /// Transposes one vector of maps into the output.
  template <typename Set>
  [[gnu::always_inline]] void store(int v) const {
    const int first_map = (plan.first_vector(panel) + v) * Set::lanes;
    float* runs[Set::lanes];
    int lengths[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) {
      const bool exists = first_map + lane < plan.shape.maps_per_group();
      runs[lane] = output + std::int64_t{exists ? first_map + lane : first_map} * plan.pixels() + first();
      lengths[lane] = exists ? pixels() : 0;
    }
    deinterleave<Set>(sums + std::ptrdiff_t{v} * pixels() * Set::lanes, pixels(), runs, lengths);
  }
};

class MapLanes {
 public:
  MapLanes(const ConvShape& shape, const float* weights)
      : plan_(shape, weights, omp_get_max_threads()), padded_(shape.padding > 0 ? shape.in_channels * plan_.plane : 0) {
    const std::int64_t most = rounded_up_quotient(plan_.pixels(), plan_.pixel_parts);
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) {
      sums_.emplace_back(most * plan_.set.vectors * plan_.set.lanes);
    }
  }

  void convolve(const float* input, float* output) {
    const ConvShape& s = plan_.shape;
    const int tasks = s.groups * plan_.panels * plan_.pixel_parts;
    const int threads = static_cast<int>(sums_.size());
#pragma omp parallel num_threads(threads)
    {
      float* const sums = sums_[static_cast<std::size_t>(omp_get_thread_num())].data();
      for (int image = 0; image < s.batch; ++image) {
        const float* of_image = input + image * s.input_elements_per_image();
        if (s.padding > 0) {
#pragma omp for schedule(static)
          for (int channel = 0; channel < s.in_channels; ++channel) pad(of_image, channel);
          of_image = padded_.data();
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < tasks; ++i) {
          const int panel = i / plan_.pixel_parts % plan_.panels;
          const int group = i / plan_.pixel_parts / plan_.panels;
          run_with<MapLanesTask>(plan_.set.kind,
                                 MapLanesTask{plan_, group, panel, i % plan_.pixel_parts,
                                              of_image + group * s.channels_per_group() * plan_.plane, sums,
                                              output + image * s.output_elements_per_image() +
                                                  std::int64_t{group} * s.maps_per_group() * plan_.pixels()});
        }
      }
    }
  }

  std::string choice() const {
    return fmt::format("{}, {} pixels x {} maps, {} channels at once, {} panels of maps, pixels in {} parts",
                       plan_.set.name, plan_.set.maps, plan_.set.tile_pixels(), plan_.channels, plan_.panels,
                       plan_.pixel_parts);
  }

 private:
  /// Copies a channel into the padded image. The border is zero and stays zero.
  void pad(const float* image, int channel) {
    const ConvShape& s = plan_.shape;
    const float* from = image + std::int64_t{channel} * s.height * s.width;
    float* to = padded_.data() + channel * plan_.plane + std::ptrdiff_t{s.padding} * plan_.pitch + s.padding;
    for (int row = 0; row < s.height; ++row, from += s.width, to += plan_.pitch) std::copy_n(from, s.width, to);
  }

  MapLanesPlan plan_;
  AlignedFloats padded_;             ///< the image that is convolved
  std::vector<AlignedFloats> sums_;  ///< the sums of each thread
};

bool suits(const ConvShape& s) {
  return s.maps_per_group() >= 2 * chosen_instruction_set().tile_pixels() && !shifted_copies_fit(s) &&
         !winograd_has_strips(s) && !winograd_maps_suit(s) && !tiles_suit(s);
}

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 15,
     .name = "map-lanes",
     .title = "Maps in lanes",
     .builds_on = "implicit-gemm",
     .hypothesis = "A single image keeps all lanes busy, and its pixels are read where they lie."},
    keep_variant(std::make_unique<PreparingCpuVariant<MapLanes>>(nullptr, suits))};

}  // namespace
}  // namespace convladder
