// How the stage of Winograd with maps in the lanes cuts a shape, and the weights of all its products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "variants/convolution/cpu/winograd_model.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// Some of an image's output rows, in whole windows; the first row is even.
struct RowPart {
  int first_window;
  int windows;
  int rows;  ///< output rows under the windows
  int first_pair;

  int pairs() const { return (rows + 1) / 2; }
};

/// The result of `prepare`, which all threads share. A pair is two rows, two columns, or the two by two outputs where
/// they meet.
struct WinogradMapsPlan : WinogradModel {
  static constexpr int kVectors = 3;  ///< vectors of maps in a panel, at most

  RowWindows windows;
  InstructionSet set;
  bool halves;  ///< whether the lanes are half vectors of a wider instruction set
  int threads;
  int vectors;                              ///< vectors of a group's maps
  int panels = 1;                           ///< panels that the maps are cut into, of nearly equal size
  int row_parts = 1;                        ///< parts that the rows of an image are cut into where threads share it
  bool alone = false;                       ///< whether each thread then prepares all the inputs of its rows itself
  int channel_vectors;                      ///< vectors of a group's channels
  int channel_pitch;                        ///< floats from one place to the next: the channels of all groups
  int input_columns;                        ///< with the padding, and the columns that the last pair reads
  int input_rows;                           ///< with the padding, and the rows that the last pair reads
  int most_shift;                           ///< largest shift of any term, in pairs
  std::vector<int> places;                  ///< places of the pixels of a channel in the image, in floats
  std::vector<int> last_shifts;             ///< last shifts of the terms that take their inputs from each stream
  std::vector<std::ptrdiff_t> pair_places;  ///< first filtered input of each pair of rows and columns, in floats
  std::vector<std::ptrdiff_t> offsets;      ///< offsets of the inputs of all products of a pair, in floats, way by way
  std::vector<int> first_product;           ///< first product of each way of both dimensions, and the end of the last
  AlignedFloats weights;                    ///< [group][panel][way][product][map of the panel]
  TapWeights tap_weights;                   ///< for outputs that are computed directly

  WinogradMapsPlan(const ConvShape& s, const RowWindows& of_rows, const float* oihw, int threads_of_all)
      : WinogradModel(s),
        windows(of_rows),
        set(set_of_map_lanes(s)),
        halves(set.lanes < chosen_instruction_set().lanes),
        threads(threads_of_all),
        vectors(rounded_up_quotient(s.maps_per_group(), set.lanes)),
        channel_vectors(rounded_up_quotient(s.channels_per_group(), set.lanes)),
        channel_pitch((s.groups * channel_vectors | 1) * set.lanes),  // odd: places fall into different sets of a cache
        input_columns(std::max(s.width + 2 * s.padding, inputs_of(column_pairs()))),
        input_rows(std::max(s.height + 2 * s.padding, inputs_of(row_pairs()))),
        most_shift(most_column_shift()),
        last_shifts(static_cast<std::size_t>(dimension.count())),
        tap_weights(s, set.lanes, oihw) {
    for (int pixel = 0; pixel < s.height * s.width; ++pixel) {
      places.push_back(static_cast<int>(input(0, pixel / s.width + s.padding, pixel % s.width + s.padding)));
    }
    for (int pair = 0; pair < row_pairs() * column_pairs(); ++pair) {
      pair_places.push_back(filtered(0, 0, pair / column_pairs(), pair % column_pairs()));
    }
    for (const WinogradTerm& term : dimension.terms) {
      int& last = last_shifts[static_cast<std::size_t>(dimension.stream(term))];
      last = std::max(last, dimension.shift(term));
    }
    for (int way = 0; way < kOutputWays * kOutputWays; ++way) {
      first_product.push_back(static_cast<int>(offsets.size()));
      for_each_product(way, [&](const WinogradTerm& row, const WinogradTerm& column, int channel) {
        offsets.push_back(
            filtered(dimension.stream(row), dimension.stream(column), dimension.shift(row), dimension.shift(column)) +
            channel);
      });
    }
    first_product.push_back(products());
    cut();
    pack(oihw);
  }

  int row_pairs() const { return (windows.rows(windows.count) + 1) / 2; }
  int shared_images() const { return shape.batch % threads; }
  int products() const { return static_cast<int>(offsets.size()); }
  int products(int way) const {
    return first_product[static_cast<std::size_t>(way) + 1] - first_product[static_cast<std::size_t>(way)];
  }
  int first_vector(int panel) const { return vectors * panel / panels; }
  RowPart whole_image() const { return row_part(0, 1); }
  RowPart row_part(int part, int parts) const {
    const int first = steps() * part / parts * step();
    const int count = std::min(steps() * (part + 1) / parts * step(), windows.count) - first;
    return {first, count, windows.rows(count), first * windows.stride / 2};
  }

  /// Floats from the image's beginning to the channels of a group at a pixel, [row][column][channel].
  std::ptrdiff_t input(int group, int row, int column) const {
    return (std::ptrdiff_t{row} * input_columns + column) * channel_pitch + group_pitch() * group;
  }
  std::ptrdiff_t group_pitch() const { return std::ptrdiff_t{channel_vectors} * set.lanes; }
  /// Floats from the beginning of the filtered inputs to a pair's first channel, [stream of rows][of columns]
  /// [pair of rows][of columns][channel].
  std::ptrdiff_t filtered(int row_stream, int column_stream, int row_pair, int column_pair) const {
    return (((std::ptrdiff_t{row_stream} * dimension.count() + column_stream) * (row_pairs() + most_shift) + row_pair) *
                (column_pairs() + most_shift) +
            column_pair) *
           channel_pitch;
  }
  std::int64_t image_floats() const { return std::int64_t{input_rows} * input_columns * channel_pitch; }
  std::int64_t filtered_floats() const { return filtered(dimension.count(), 0, 0, 0); }

  /// Pairs of rows whose sums stay in the second-level cache until they are added up.
  int row_pairs_at_once() const {
    constexpr int kNear = 96 * 1024;  // floats
    const int of_row = kOutputWays * kOutputWays * kVectors * set.lanes * column_pairs();
    return std::clamp(kNear / of_row, 1, row_pairs());
  }
  /// Floats from the sums of one way to those of the next: an odd number of vectors.
  std::ptrdiff_t way_pitch() const {
    return std::ptrdiff_t{(kVectors * row_pairs_at_once() * column_pairs()) | 1} * set.lanes;
  }

  /// Floats from the outputs of one vector of maps to those of the next, for `pairs` pairs of rows.
  std::ptrdiff_t output_pitch(int pairs) const { return std::ptrdiff_t{2} * pairs * shape.out_width() * set.lanes; }

  /// Calls Body::run<Set>(body). Where the lanes are half vectors of AVX-512, its 32 registers are still used.
  template <typename Body>
  void run(const Body& body) const {
    if (halves) return run_with_halves<Body>(body);
    run_with<Body>(set.kind, body);
  }

  const float* weights_of(int group, int panel, int way) const {
    const std::ptrdiff_t width = std::ptrdiff_t{first_vector(panel + 1) - first_vector(panel)} * set.lanes;
    return weights.data() + (std::ptrdiff_t{group} * vectors + first_vector(panel)) * set.lanes * products() +
           first_product[static_cast<std::size_t>(way)] * width;
  }

 private:
  /// Windows from one that begins with an even row to the next one that does; `steps` counts such steps.
  int step() const { return windows.stride % 2 == 0 ? 1 : 2; }
  int steps() const { return rounded_up_quotient(windows.count, step()); }
  int pairs_of_part(int parts) const {
    return (windows.rows(std::min(rounded_up_quotient(steps(), parts) * step(), windows.count)) + 1) / 2;
  }

  /// Chooses as few panels and parts of the rows as keep all threads busy: a part reads all weights of its panel. Where
  /// weights are few, parts of the rows are better: no thread waits for another.
  void cut() {
    constexpr std::int64_t kFewWeights = 128 * 1024;  // floats that stay in the second-level cache
    const int fewest = rounded_up_quotient(vectors, kVectors);
    panels = fewest;
    if (shared_images() == 0) return;
    const int most = std::min(vectors, fewest + threads - 1);
    double least = std::numeric_limits<double>::infinity();
    for (int of_rows = 1; of_rows <= std::min(steps(), threads); ++of_rows) {
      for (int of_maps = fewest; of_maps <= most; ++of_maps) {
        const double work = static_cast<double>(rounded_up_quotient(shape.groups * of_maps * of_rows, threads)) *
                            rounded_up_quotient(vectors, of_maps) * pairs_of_part(of_rows);
        if (!(work < 0.98 * least)) continue;
        least = work;
        panels = of_maps;
        row_parts = of_rows;
      }
    }
    const int of_rows = std::min(steps(), threads);
    const double work = static_cast<double>(shape.groups) * vectors * pairs_of_part(of_rows);
    if (work > 1.02 * least || std::int64_t{shape.groups} * vectors * set.lanes * products() > kFewWeights) return;
    alone = true;
    panels = fewest;
    row_parts = of_rows;
  }

  void pack(const float* oihw) {
    const int maps = shape.maps_per_group();
    const int of_filter = shape.kernel * shape.kernel;
    weights = AlignedFloats(std::int64_t{shape.groups} * vectors * set.lanes * products());
    float* const packed = weights.data();
#pragma omp parallel for collapse(2) schedule(static)
    for (int group = 0; group < shape.groups; ++group) {
      for (int panel = 0; panel < panels; ++panel) {
        const int first = first_vector(panel) * set.lanes;
        const int width = first_vector(panel + 1) * set.lanes - first;
        float* to = packed + (std::ptrdiff_t{group} * vectors * set.lanes + first) * products();
        for (int way = 0; way < kOutputWays * kOutputWays; ++way) {
          for_each_product(way, [&](const WinogradTerm& row, const WinogradTerm& column, int channel) {
            for (int m = 0; m < std::min(width, maps - first); ++m) {
              const std::ptrdiff_t map = std::ptrdiff_t{group} * maps + first + m;
              to[m] = winograd_weight(row, column, shape.kernel,
                                      oihw + (map * shape.channels_per_group() + channel) * of_filter);
            }
            to += width;
          });
        }
      }
    }
  }
};

}  // namespace convladder
