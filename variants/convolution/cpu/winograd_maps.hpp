// The work of Winograd's minimal filtering with output maps in the lanes: products of the inputs from
// winograd_maps_inputs.hpp, their sums, and how threads share the work. Stage 16 and its fused variant share it.
#pragma once

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "variants/convolution/cpu/winograd_maps_inputs.hpp"
#include "variants/convolution/cpu/winograd_outputs.hpp"

namespace convladder {

/// A thread's workspace.
struct WinogradMapsWorkspace {
  AlignedFloats sums;                 ///< sums of a band of rows: [way][vector of the panel][pair][lane]
  AlignedFloats outputs;              ///< [vector of the panel][row of the part][column][lane]
  std::vector<int> few;               ///< outputs of the part that are computed directly
  std::vector<CountingInput> inputs;  ///< inputs of one of those outputs

  explicit WinogradMapsWorkspace(const WinogradMapsPlan& plan)
      : sums(kOutputWays * kOutputWays * plan.way_pitch()),
        outputs(WinogradMapsPlan::kVectors * plan.output_pitch(plan.row_pairs())) {}
};

/// Outputs with a map in each lane, and where they belong.
struct MapLanesOutputs {
  int image;
  int group;
  int first_map;  ///< first map, counted in the group; maps beyond the group's last do not exist
  const RowPart& rows;
  float* values;  ///< [row][column][lane]; may be overwritten
};

/// Transposes `count` vectors of outputs into runs of that many floats, one for each map, `map_pitch` floats apart;
/// `to` is the run of the image's first map.
template <typename Set>
[[gnu::always_inline]] inline void store_map_lanes(const MapLanesOutputs& from, int maps_of_group, int count, float* to,
                                                   std::ptrdiff_t map_pitch) {
  float* runs[Set::lanes];
  int lengths[Set::lanes];
  for (int lane = 0; lane < Set::lanes; ++lane) {
    const bool exists = from.first_map + lane < maps_of_group;
    const std::ptrdiff_t map = std::ptrdiff_t{from.group} * maps_of_group + from.first_map + (exists ? lane : 0);
    runs[lane] = to + map * map_pitch;
    lengths[lane] = exists ? count : 0;
  }
  deinterleave<Set>(from.values, count, runs, lengths);
}

/// Stores outputs with a map in each lane, as stage 16 does: transposes them into the NCHW output.
struct StoreMapLanes {
  const ConvShape& shape;
  float* output;

  template <typename Set>
  [[gnu::always_inline]] void store(const MapLanesOutputs& from) const {
    store_map_lanes<Set>(from, shape.maps_per_group(), from.rows.rows * shape.out_width(),
                         output + from.image * shape.output_elements_per_image() +
                             std::int64_t{2} * from.rows.first_pair * shape.out_width(),
                         std::int64_t{shape.out_height()} * shape.out_width());
  }
};

/// A task: the outputs of a panel of a group's maps in some rows.
template <typename Store>
struct WinogradMapsTask {
  const WinogradMapsPlan& plan;
  WinogradMapsWorkspace& work;
  const WinogradImage& image;
  int group;
  int panel;
  const RowPart& rows;
  int which;  ///< number of the image in the batch
  const Store& to;

  template <typename Set>
  static void run(const WinogradMapsTask& task) {
    with_constant<WinogradMapsPlan::kVectors>(
        task.vectors(), [&](auto vectors) __attribute__((always_inline)) { task.compute<Set, vectors>(); });
  }

 private:
  /// Pairs of a register tile: as many as fit the registers beside the weights and an input.
  template <typename Set>
  static constexpr int most_pairs(int vectors) {
    return std::min(8, (Set::registers - 1 - vectors) / vectors);
  }

  /// Pairs of rows whose sums are computed and added up together.
  struct Band {
    int first_row;  ///< counted in the part's outputs
    int rows;
    int first_pair;  ///< first pair of rows and columns in the image
    int pairs;
  };

  int first_vector() const { return plan.first_vector(panel); }
  int vectors() const { return plan.first_vector(panel + 1) - first_vector(); }

  template <typename Set, int kVectors>
  [[gnu::always_inline]] void compute() const {
    const int bands = rounded_up_quotient(rows.pairs(), plan.row_pairs_at_once());
    for (int i = 0; i < bands; ++i) {
      const int first = rows.pairs() * i / bands;
      const int end = rows.pairs() * (i + 1) / bands;
      const Band band{2 * first, std::min(2 * end, rows.rows) - 2 * first,
                      (rows.first_pair + first) * plan.column_pairs(), (end - first) * plan.column_pairs()};
      for (int way = 0; way < kOutputWays * kOutputWays; ++way) multiply_way<Set, kVectors>(way, band);
      for (int vector = 0; vector < kVectors; ++vector) add_up<Set>(vector, band);
    }
    replace_few<Set, kVectors>();
    for (int vector = 0; vector < kVectors; ++vector) {
      to.template store<Set>(
          MapLanesOutputs{which, group, (first_vector() + vector) * Set::lanes, rows, outputs(vector)});
    }
  }

  template <typename Set, int kVectors>
  [[gnu::always_inline]] void multiply_way(int way, const Band& band) const {
    if (plan.products(way) == 0) return;
    constexpr int kMost = most_pairs<Set>(kVectors);
    const int tiles = rounded_up_quotient(band.pairs, kMost);
    for (int tile = 0; tile < tiles; ++tile) {
      const int first = band.pairs * tile / tiles;
      const int end = band.pairs * (tile + 1) / tiles;
      with_constant<kMost>(
          end - first, [&](auto pairs) __attribute__((always_inline)) {
            multiply<Set, pairs, kVectors>(way, band, first, tile, tiles);
          });
    }
  }

  /// Computes the sums of a way for some pairs. Meanwhile the next way's weights are prefetched into the second-level
  /// cache: each of the `tiles` asks for its share of them.
  template <typename Set, int kPairs, int kVectors>
  [[gnu::always_inline]] void multiply(int way, const Band& band, int first, int tile, int tiles) const {
    constexpr int kWidth = kVectors * Set::lanes;
    const std::ptrdiff_t* const places = plan.pair_places.data() + band.first_pair + first;
    const float* from[kPairs];
#pragma GCC unroll 8
    for (int p = 0; p < kPairs; ++p) from[p] = image.filtered.data() + plan.group_pitch() * group + places[p];
    const int products = plan.products(way);
    const std::ptrdiff_t* const offsets = plan.offsets.data() + plan.first_product[static_cast<std::size_t>(way)];
    const float* w = plan.weights_of(group, panel, way);
    const std::ptrdiff_t ahead = rounded_up_quotient(kWidth * static_cast<int>(sizeof(float)), tiles);  // bytes
    const char* next = reinterpret_cast<const char*>(w + std::ptrdiff_t{products} * kWidth) + ahead * products * tile;
    RegisterTile<Set, kPairs, kVectors> sum;
    sum.clear();
    for (int product = 0; product < products; ++product, w += kWidth, next += ahead) {
      const std::ptrdiff_t offset = offsets[product];
      __builtin_prefetch(next, 0, 2);
      Vector<Set> weights[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        Vector<Set> weight;
        load_vector(weight, w + v * Set::lanes);
        keep_in_register(weight);
        weights[v] = weight;
      }
#pragma GCC unroll 8
      for (int p = 0; p < kPairs; ++p) {
        const float x = from[p][offset];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) sum.sums[p][v] += weights[v] * x;
      }
    }
    float* const to = work.sums.data() + way * plan.way_pitch() + std::ptrdiff_t{first} * Set::lanes;
#pragma GCC unroll 8
    for (int p = 0; p < kPairs; ++p) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        store_vector(to + (std::ptrdiff_t{v} * band.pairs + p) * Set::lanes, sum.sums[p][v]);
      }
    }
  }

  float* outputs(int vector) const { return work.outputs.data() + vector * plan.output_pitch(rows.pairs()); }

  /// Computes the outputs with few inputs that count directly, and puts them in their places.
  template <typename Set, int kVectors>
  [[gnu::always_inline]] void replace_few() const {
    work.few.clear();
    image.few.find(group, 2 * rows.first_pair, rows.rows, work.few);
    alignas(64) float sums[kVectors * Set::lanes];
    for (const int position : work.few) {
      const int width = plan.shape.out_width();
      collect<Set>(2 * rows.first_pair + position / width, position % width);
      sum_counting_vectors<Set, kVectors>(work.inputs, plan.tap_weights.tap(group, 0) + first_vector() * Set::lanes,
                                          plan.tap_weights.pitch(), sums);
      for (int vector = 0; vector < kVectors; ++vector) {
        std::copy_n(sums + vector * Set::lanes, Set::lanes, outputs(vector) + std::ptrdiff_t{position} * Set::lanes);
      }
    }
  }

  /// Collects the inputs of an output that are not zero. Most inputs are zero, often all channels of a pixel.
  template <typename Set>
  [[gnu::always_inline]] void collect(int row, int column) const {
    const ConvShape& s = plan.shape;
    work.inputs.clear();
    for (int p = 0; p < s.kernel; ++p) {
      for (int q = 0; q < s.kernel; ++q) {
        const float* const from = image.channels.data() + plan.input(group, row * s.stride + p, column * s.stride + q);
        for (int first = 0; first < s.channels_per_group(); first += Set::lanes) {
          std::uint32_t bits[Set::lanes];
          std::memcpy(bits, from + first, sizeof bits);
          std::uint32_t any = 0;
          for (int lane = 0; lane < Set::lanes; ++lane) any |= bits[lane];
          if (any == 0) continue;
          for (int c = first; c < std::min(first + Set::lanes, s.channels_per_group()); ++c) {
            if (from[c] != 0) work.inputs.push_back({(std::ptrdiff_t{c} * s.kernel + p) * s.kernel + q, from[c]});
          }
        }
      }
    }
  }

  /// Computes the outputs of a vector of maps from the sums of all ways.
  template <typename Set>
  [[gnu::always_inline]] void add_up(int vector, const Band& band) const {
    if (plan.dimension.uses(OutputWay::opposite)) {
      add_up<Set, true>(vector, band);
    } else {
      add_up<Set, false>(vector, band);
    }
  }

  template <typename Set, bool kOpposite>
  [[gnu::always_inline]] void add_up(int vector, const Band& band) const {
    const int width = plan.shape.out_width();
    const float* from = work.sums.data() + std::ptrdiff_t{vector} * band.pairs * Set::lanes;
    for (int row = 0; row < band.rows; row += 2) {
      float* at = outputs(vector) + std::ptrdiff_t{band.first_row + row} * width * Set::lanes;
      for (int column = 0; column < width; column += 2, from += Set::lanes, at += 2 * Set::lanes) {
        add_up_ways<Set, kOpposite>(from, plan.way_pitch(), std::min(2, band.rows - row), std::min(2, width - column),
                                    at, std::ptrdiff_t{width} * Set::lanes);
      }
    }
  }
};

/// Convolves all images of a batch, using all cores.
class WinogradMapsConvolution {
 public:
  /// `weights` are OIHW; `windows` say how output rows are pooled, as in `Strips`.
  WinogradMapsConvolution(const ConvShape& shape, const RowWindows& windows, const float* weights)
      : plan_(shape, windows, weights, omp_get_max_threads()), zeros_(std::int64_t{shape.height} * shape.width) {
    const int images = plan_.alone ? plan_.threads : std::min(shape.batch, plan_.threads);
    for (int image = 0; image < images; ++image) images_.emplace_back(plan_);
    for (int thread = 0; thread < plan_.threads; ++thread) workspaces_.emplace_back(plan_);
  }

  /// `input` is NCHW; `to` has StoreMapLanes' members.
  template <typename Store>
  void convolve(const float* input, const Store& to) {
    const ConvShape& s = plan_.shape;
    const int of_one_thread = s.batch - plan_.shared_images();
    const int parts = plan_.row_parts;
#pragma omp parallel num_threads(plan_.threads)
    {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(static)
      for (int image = 0; image < of_one_thread; ++image) {
        convolve_alone(thread, plan_.whole_image(), image, input, to);
      }
      if (plan_.alone) {
#pragma omp for schedule(static)
        for (int i = 0; i < plan_.shared_images() * parts; ++i) {
          convolve_alone(thread, plan_.row_part(i % parts, parts), of_one_thread + i / parts, input, to);
        }
      } else {
        for (int image = of_one_thread; image < s.batch; ++image) convolve_together(thread, image, input, to);
      }
    }
  }

  /// Lanes for the maps of all groups, in whole vectors for each group.
  int map_floats() const { return plan_.shape.groups * plan_.vectors * plan_.set.lanes; }

  std::string choice() const {
    const auto terms = plan_.dimension.terms.size();
    return fmt::format("{}, {} products for 2x2 outputs, {} panels of up to {} maps, rows in {} parts",
                       plan_.halves ? "halves of avx512" : plan_.set.name, terms * terms, plan_.panels,
                       rounded_up_quotient(plan_.vectors, plan_.panels) * plan_.set.lanes,
                       plan_.shared_images() > 0 ? plan_.row_parts : 1);
  }

 private:
  /// Computes some rows of image `which` of the batch, with one thread.
  template <typename Store>
  void convolve_alone(std::size_t thread, const RowPart& rows, int which, const float* batch, const Store& to) {
    WinogradImage& image = images_[thread];
    const ConvShape& s = plan_.shape;
    const float* const input = batch + which * s.input_elements_per_image();
    const int first_row = 2 * rows.first_pair * s.stride;
    const int end_row = std::min(first_row + plan_.inputs_of(rows.pairs()), s.height + 2 * s.padding);
    for (int group = 0; group < s.groups; ++group) {
      for (int vector = 0; vector < plan_.channel_vectors; ++vector) {
        put_side_by_side(group, vector, first_row - s.padding, end_row - s.padding, input, image);
      }
      for (int row = first_row; row < end_row; ++row) find_few(group, row, input, image);
    }
    for (int stream = 0; stream < plan_.dimension.count(); ++stream) {
      const int end = rows.first_pair + rows.pairs() + plan_.last_shifts[static_cast<std::size_t>(stream)];
      for (int pair = rows.first_pair; pair < end; ++pair) filter(stream, pair, image);
    }
    for (int group = 0; group < s.groups; ++group) {
      for (int panel = 0; panel < plan_.panels; ++panel) multiply(thread, group, panel, rows, image, which, to);
    }
  }

  /// Computes the whole image `which` of the batch, with all threads.
  template <typename Store>
  void convolve_together(std::size_t thread, int which, const float* batch, const Store& to) {
    WinogradImage& image = images_.front();
    const ConvShape& s = plan_.shape;
    const float* const input = batch + which * s.input_elements_per_image();
    const int padded_rows = s.height + 2 * s.padding;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < s.groups * padded_rows; ++i) find_few(i / padded_rows, i % padded_rows, input, image);
#pragma omp for schedule(static)
    for (int i = 0; i < s.groups * plan_.channel_vectors * plan_.threads; ++i) {
      const int part = i % plan_.threads;
      const int vector = i / plan_.threads % plan_.channel_vectors;
      put_side_by_side(i / plan_.threads / plan_.channel_vectors, vector, s.height * part / plan_.threads,
                       s.height * (part + 1) / plan_.threads, input, image);
    }
#pragma omp for collapse(2) schedule(static)
    for (int pair = 0; pair < plan_.row_pairs() + plan_.most_shift; ++pair) {
      for (int stream = 0; stream < plan_.dimension.count(); ++stream) {
        const int end = plan_.row_pairs() + plan_.last_shifts[static_cast<std::size_t>(stream)];
        if (pair < end) filter(stream, pair, image);
      }
    }
    const int parts = plan_.row_parts;
#pragma omp for schedule(static)
    for (int i = 0; i < s.groups * parts * plan_.panels; ++i) {
      const int part = i / plan_.panels % parts;
      multiply(thread, i / plan_.panels / parts, i % plan_.panels, plan_.row_part(part, parts), image, which, to);
    }
  }

  /// `first_row` and `end_row` count from the first row of the image; rows outside it do not exist.
  void put_side_by_side(int group, int vector, int first_row, int end_row, const float* input,
                        WinogradImage& image) const {
    plan_.run(ChannelsTask{plan_, zeros_.data(), group, vector, std::max(first_row, 0),
                           std::min(end_row, plan_.shape.height), input, image});
  }
  void filter(int stream, int pair, WinogradImage& image) const { plan_.run(FilterTask{plan_, stream, pair, image}); }
  void find_few(int group, int row, const float* input, WinogradImage& image) const {
    plan_.run(FewInputsTask{group, row, input, image});
  }
  template <typename Store>
  void multiply(std::size_t thread, int group, int panel, const RowPart& rows, const WinogradImage& image, int which,
                const Store& to) {
    plan_.run(WinogradMapsTask<Store>{plan_, workspaces_[thread], image, group, panel, rows, which, to});
  }

  WinogradMapsPlan plan_;
  AlignedFloats zeros_;
  std::vector<WinogradImage> images_;  ///< for each thread with an image of its own; the first is also the shared one
  std::vector<WinogradMapsWorkspace> workspaces_;  ///< for each thread
};

}  // namespace convladder
