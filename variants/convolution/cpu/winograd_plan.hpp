// What the Winograd stage makes ready: filtered inputs and where they lie, tasks, and the weights of all products.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "variants/convolution/cpu/lane_tasks.hpp"
#include "variants/convolution/cpu/winograd_terms.hpp"

namespace convladder {

/// Every second value of an input filter's results: value t belongs to the inputs from 2 * t + parity on.
struct HalfStream {
  InputFilter filter;
  int parity;
  bool operator==(const HalfStream&) const = default;
};

/// The terms of one dimension, and the half streams that they take their inputs from.
struct WinogradDimension {
  std::vector<WinogradTerm> terms;
  std::vector<HalfStream> streams;

  explicit WinogradDimension(int taps) : terms(winograd_terms(taps)) {
    for (const WinogradTerm& term : terms) {
      const HalfStream stream{term.filter, term.offset % 2};
      if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
    }
  }
  int stream(const WinogradTerm& term) const {
    return static_cast<int>(std::ranges::find(streams, HalfStream{term.filter, term.offset % 2}) - streams.begin());
  }
  int count() const { return static_cast<int>(streams.size()); }
  bool uses(OutputWay way) const { return std::ranges::find(terms, way, &WinogradTerm::way) != terms.end(); }
};

/// Of a term's inputs against its pair of outputs, in pairs.
inline int pair_shift(const WinogradTerm& term) { return term.offset / 2; }

/// What the terms of one way need of one half stream: its values from pair `first_shift` to `last_shift` pairs after
/// the last pair of outputs.
struct RowStream {
  HalfStream stream;
  int first_shift;
  int last_shift;
};

inline std::vector<RowStream> row_streams(const WinogradDimension& dimension, OutputWay way) {
  std::vector<RowStream> result;
  for (const WinogradTerm& term : dimension.terms) {
    if (term.way != way) continue;
    const HalfStream stream{term.filter, term.offset % 2};
    const auto known = std::ranges::find(result, stream, &RowStream::stream);
    if (known == result.end()) {
      result.push_back({stream, pair_shift(term), pair_shift(term)});
    } else {
      known->first_shift = std::min(known->first_shift, pair_shift(term));
      known->last_shift = std::max(known->last_shift, pair_shift(term));
    }
  }
  return result;
}

/// The filtered inputs of a strip for one way of the rows: [row stream][column stream][row pair][column pair][channel]
/// [lane].
struct FilteredSizes {
  int row_streams;  ///< the most of any way
  int column_streams;
  int row_pairs;
  int column_pairs;
  int channel_pitch;  ///< vectors; odd, so that neighbouring positions fall into different sets of a cache

  std::int64_t offset(int row_stream, int column_stream, int row_pair, int column_pair) const {
    return (((std::int64_t{row_stream} * column_streams + column_stream) * row_pairs + row_pair) * column_pairs +
            column_pair) *
           channel_pitch;
  }
  std::int64_t vectors() const { return offset(row_streams, 0, 0, 0); }
};

constexpr int kFewestWinogradChannels = 8;

/// Empty if the products can be saved for that shape, otherwise why not.
inline std::string winograd_unsupported(const ConvShape& s) {
  const std::string sizes = fmt::format("kernel {} with stride {} and {} input channels for each map", s.kernel,
                                        s.stride, s.channels_per_group());
  if (s.stride != 1) return sizes + ": neighbouring outputs share products with stride 1 only";
  if (s.channels_per_group() < kFewestWinogradChannels) {
    return fmt::format("{}: with fewer than {} channels, cancellation would make rounding errors too large", sizes,
                       kFewestWinogradChannels);
  }
  return "";
}

/// Products of both dimensions for two by two outputs, which need kernel * kernel each.
inline double saved_by_winograd(const ConvShape& shape) {
  const auto terms = static_cast<double>(winograd_terms(shape.kernel).size());
  return 4.0 * shape.kernel * shape.kernel / (terms * terms);
}

/// What `prepare` made, the same for all threads.
struct WinogradPlan {
  static constexpr int kFilteredBytes = 1024 * 1024;

  ConvShape shape;
  InstructionSet set;
  MapTiles map_tiles;
  WinogradDimension dimension;  ///< rows and columns alike
  std::vector<RowStream> streams_of_way[kOutputWays];
  RowWindows windows;
  LaneDivision division;
  Strips strips;
  bool past_caches;  ///< the way of the outputs
  FilteredSizes sizes;
  std::vector<std::ptrdiff_t> offsets;  ///< of the inputs of all products of a position, in floats, way by way
  std::vector<int> first_product;       ///< of each way of both dimensions, and the end of the last
  AlignedFloats weights;                ///< tile of maps by tile, in each product by product those of the tile's maps

  WinogradPlan(const ConvShape& s, const float* oihw, int threads)
      : WinogradPlan(s, {.count = s.out_height()}, oihw, threads) {}
  WinogradPlan(const ConvShape& s, const RowWindows& of_rows, const float* oihw, int threads)
      : shape(s),
        set(chosen_instruction_set()),
        map_tiles(s.maps_per_group(), set.maps),
        dimension(s.kernel),
        streams_of_way{row_streams(dimension, OutputWay::first), row_streams(dimension, OutputWay::both),
                       row_streams(dimension, OutputWay::opposite), row_streams(dimension, OutputWay::second)},
        windows(of_rows),
        division(divide(threads)),
        strips(s.batch, windows, division.windows),
        past_caches(outgrows_caches(s.output_elements())),
        sizes(filtered_sizes(division.rows)) {
    for (int way = 0; way < kOutputWays * kOutputWays; ++way) {
      first_product.push_back(static_cast<int>(offsets.size()));
      for_each_product(way, [&](const WinogradTerm& row, const WinogradTerm& column, int channel) {
        offsets.push_back((input_of(row, column) + channel) * set.lanes);
      });
    }
    first_product.push_back(products());
    pack(oihw);
  }

  int products() const { return static_cast<int>(offsets.size()); }
  int column_pairs() const { return (shape.out_width() + 1) / 2; }
  int pairs(int rows) const { return (rows + 1) / 2 * column_pairs(); }
  int most_part_maps() const {
    return std::min(map_tiles.maps(), (map_tiles.count() + division.map_parts - 1) / division.map_parts * set.maps);
  }
  /// What whole pairs of output rows, or columns, read.
  int inputs_of(int output_pairs) const { return 2 * output_pairs + shape.kernel - 1; }
  LaneTile input_tile() const {
    return {shape, set.lanes, shape.channels_per_group(), inputs_of((division.rows + 1) / 2),
            std::max(shape.width + 2 * shape.padding, 2 * sizes.column_pairs + 2)};
  }

 private:
  FilteredSizes filtered_sizes(int rows) const {
    FilteredSizes result{0, dimension.count(), 0, 0, shape.channels_per_group() | 1};
    for (const std::vector<RowStream>& streams : streams_of_way) {
      result.row_streams = std::max(result.row_streams, static_cast<int>(streams.size()));
      for (const RowStream& stream : streams) {
        result.row_pairs = std::max(result.row_pairs, (rows + 1) / 2 + stream.last_shift - stream.first_shift);
      }
    }
    for (const WinogradTerm& term : dimension.terms) {
      result.column_pairs = std::max(result.column_pairs, column_pairs() + pair_shift(term));
    }
    return result;
  }

  /// Where a product's input of the first pair of rows and columns is.
  std::int64_t input_of(const WinogradTerm& row, const WinogradTerm& column) const {
    const std::vector<RowStream>& streams = streams_of_way[static_cast<int>(row.way)];
    const auto stream = std::ranges::find(streams, HalfStream{row.filter, row.offset % 2}, &RowStream::stream);
    return sizes.offset(static_cast<int>(stream - streams.begin()), dimension.stream(column),
                        pair_shift(row) - stream->first_shift, pair_shift(column));
  }

  /// In cycles: two multiply-adds a cycle, and what transposing, filtering and adding up takes.
  LaneDivision divide(int threads) const {
    constexpr double kTransposing = 5;  // cycles for a vector, read, transposed and written
    constexpr double kFiltering = 4;    // for a vector of filtered inputs
    constexpr double kAddingUp = 60;    // for the two by two outputs of a map
    const auto terms = static_cast<double>(dimension.terms.size());
    const int pair = windows.stride == 1 ? 2 : 1;
    return least_cost_division(shape, windows, set, map_tiles, threads, pair, [&](int rows, int tiles) {
      const FilteredSizes filtered = filtered_sizes(rows);
      if (rows > windows.rows(pair) && filtered.vectors() * set.lanes * 4 > kFilteredBytes) {
        return std::numeric_limits<double>::infinity();
      }
      double filtered_planes = 0;
      for (const std::vector<RowStream>& streams : streams_of_way) {
        for (const RowStream& stream : streams) {
          filtered_planes += ((rows + 1) / 2 + stream.last_shift - stream.first_shift) * filtered.column_streams;
        }
      }
      const double channels = shape.channels_per_group();
      const double sums = static_cast<double>(pairs(rows)) * tiles * set.maps;
      return sums * (terms * terms * channels / 2 + kAddingUp) +
             filtered_planes * filtered.column_pairs * channels * kFiltering +
             channels * inputs_of((rows + 1) / 2) * shape.width * kTransposing;
    });
  }

  /// Calls body(row term, column term, channel) for the products of a way.
  template <typename Body>
  void for_each_product(int way, const Body& body) const {
    for (const WinogradTerm& row : dimension.terms) {
      for (const WinogradTerm& column : dimension.terms) {
        if (static_cast<int>(row.way) * kOutputWays + static_cast<int>(column.way) != way) continue;
        for (int c = 0; c < shape.channels_per_group(); ++c) body(row, column, c);
      }
    }
  }

  void pack(const float* oihw) {
    const int taps = shape.kernel * shape.kernel;
    weights = AlignedFloats(std::int64_t{shape.out_channels} * products());
    float* to = weights.data();
    for (int group = 0; group < shape.groups; ++group) {
      for (int tile = 0; tile < map_tiles.count(); ++tile) {
        const int first_map = group * map_tiles.maps() + map_tiles.first(tile);
        for (int way = 0; way < kOutputWays * kOutputWays; ++way) {
          for_each_product(way, [&](const WinogradTerm& row, const WinogradTerm& column, int channel) {
            for (int m = 0; m < map_tiles.size(tile); ++m) {
              *to++ = weight(row, column,
                             oihw + (std::int64_t{first_map + m} * shape.channels_per_group() + channel) * taps);
            }
          });
        }
      }
    }
  }

  float weight(const WinogradTerm& row, const WinogradTerm& column, const float* taps) const {
    double sum = 0;
    for (int p = 0; p < shape.kernel; ++p) {
      if (row.weights[static_cast<std::size_t>(p)] == 0) continue;
      for (int q = 0; q < shape.kernel; ++q) {
        sum += row.weights[static_cast<std::size_t>(p)] * column.weights[static_cast<std::size_t>(q)] *
               taps[p * shape.kernel + q];
      }
    }
    return static_cast<float>(sum);
  }
};

}  // namespace convladder
