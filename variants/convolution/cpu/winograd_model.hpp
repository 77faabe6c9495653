// How the Winograd stage cuts a shape: its terms, the filtered inputs that they read, and the time that they take.
#pragma once

#include <fmt/format.h>

#include <omp.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "variants/convolution/cpu/few_inputs.hpp"
#include "variants/convolution/cpu/lane_tasks.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu/tile_convolution.hpp"
#include "variants/convolution/cpu/winograd_terms.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// The results of an input filter, one for each pair of outputs: value t is computed from the inputs from
/// `step * t + first` on, `step` being two strides.
struct PairStream {
  InputFilter filter;
  int first;
  bool operator==(const PairStream&) const = default;
};

/// The terms of one dimension, and the streams that their inputs come from.
struct WinogradDimension {
  int step;  ///< inputs from a pair of outputs to the next
  std::vector<WinogradTerm> terms;
  std::vector<PairStream> streams;

  WinogradDimension(int taps, int stride) : step(2 * stride), terms(winograd_terms(taps, stride)) {
    for (const WinogradTerm& term : terms) {
      if (std::ranges::find(streams, stream_of(term)) == streams.end()) streams.push_back(stream_of(term));
    }
  }
  PairStream stream_of(const WinogradTerm& term) const { return {term.filter, term.offset % step}; }
  /// Distance of a term's inputs from its pair of outputs, in pairs.
  int shift(const WinogradTerm& term) const { return term.offset / step; }
  int stream(const WinogradTerm& term) const {
    return static_cast<int>(std::ranges::find(streams, stream_of(term)) - streams.begin());
  }
  int count() const { return static_cast<int>(streams.size()); }
  bool uses(OutputWay way) const { return std::ranges::find(terms, way, &WinogradTerm::way) != terms.end(); }
};

/// The values of one stream that the terms of one way need: from `first_shift` pairs after the first pair of outputs to
/// `last_shift` pairs after the last.
struct RowStream {
  PairStream stream;
  int first_shift;
  int last_shift;
};

inline std::vector<RowStream> row_streams(const WinogradDimension& dimension, OutputWay way) {
  std::vector<RowStream> result;
  for (const WinogradTerm& term : dimension.terms) {
    if (term.way != way) continue;
    const PairStream stream = dimension.stream_of(term);
    const int shift = dimension.shift(term);
    const auto known = std::ranges::find(result, stream, &RowStream::stream);
    if (known == result.end()) {
      result.push_back({stream, shift, shift});
    } else {
      known->first_shift = std::min(known->first_shift, shift);
      known->last_shift = std::max(known->last_shift, shift);
    }
  }
  return result;
}

/// The filtered inputs of a block of columns for one way of the rows: [row stream][column stream][row pair]
/// [column pair][channel][lane].
struct FilteredSizes {
  int row_streams;  ///< of the way that has the most
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

/// Empty if that shape's products can be saved, otherwise why not.
inline std::string winograd_unsupported(const ConvShape& s) {
  const int inputs = s.channels_per_group() * s.kernel * s.kernel;
  constexpr int kFewest = 2 * kEnoughInputs;
  if (inputs >= kFewest) return "";
  return fmt::format(
      "kernel {} with stride {} and {} input channels for each map: with fewer than {} inputs for an output, "
      "cancellation would make rounding errors too large",
      s.kernel, s.stride, s.channels_per_group(), kFewest);
}

/// Whether enough maps use the filtered inputs: with 16 maps filtering takes as long as the saved products.
inline bool winograd_suits(const ConvShape& s) { return s.maps_per_group() >= 24; }

/// The strips of two rows that a batch can be cut into: no more lanes can be filled.
inline std::int64_t winograd_strips(const ConvShape& s) { return std::int64_t{s.batch} * ((s.out_height() + 1) / 2); }

/// Whether strips of two rows of the batch's images fill most of the lanes; many idle lanes cost more than the saved
/// products. Two threads need at least two groups, unless there are many maps: they would share the maps of a single
/// group, and both filter all of its inputs. With a stride, a strip of two rows reads many rows that its neighbours
/// read too, so the images alone have to fill most lanes there, or all lanes where the shifted rows do well.
inline bool winograd_has_strips(const ConvShape& s) {
  if (shifted_copies_fit(s)) return s.batch >= chosen_instruction_set().lanes;
  const int lanes = instruction_sets_to_choose_from().back().lanes;
  if (s.stride > 1) return 4 * s.batch >= 3 * lanes;
  const int threads = std::min(2, omp_get_max_threads());
  constexpr int kManyMaps = 64;  // maps of a thread, so that filtering takes little of its time
  return 4 * winograd_strips(s) >= 3 * (s.maps_per_group() >= threads * kManyMaps ? 1 : threads) * lanes;
}

/// The available instruction set whose vectors leave the fewest lanes without a map: whole vectors, or halves where the
/// processor halves them itself.
inline InstructionSet set_of_map_lanes(const ConvShape& s) {
  const std::vector<InstructionSet> sets = instruction_sets_to_choose_from();
  return *std::ranges::min_element(sets, {}, [&](const InstructionSet& one) {
    return rounded_up_quotient(s.maps_per_group(), one.lanes) * one.lanes;
  });
}

/// Whether maps in the lanes are the best way to save products. For wide layers they are with any number of images, as
/// long as an image's filtered inputs stay in the caches; for layers of few channels, which the shifted rows do well
/// too, only where the maps fill the lanes and the images would not.
inline bool winograd_maps_suit(const ConvShape& s) {
  constexpr int kFewChannels = 8;
  constexpr std::int64_t kNearFiltered = 1 << 20;  // floats
  if (!winograd_suits(s) || s.channels_per_group() < kFewChannels || tiles_suit(s)) return false;
  const std::int64_t streams = WinogradDimension(s.kernel, s.stride).count();
  const std::int64_t pairs = std::int64_t{(s.out_height() + 1) / 2} * ((s.out_width() + 1) / 2);
  if (streams * streams * pairs * s.in_channels > kNearFiltered) return false;
  if (!shifted_copies_fit(s)) return true;
  const int lanes = set_of_map_lanes(s).lanes;
  return s.batch < chosen_instruction_set().lanes &&
         8 * s.maps_per_group() >= 7 * rounded_up_quotient(s.maps_per_group(), lanes) * lanes;
}

/// How many times fewer products two by two outputs take than kernel * kernel for each output.
inline double saved_by_winograd(const ConvShape& shape) {
  const auto terms = static_cast<double>(winograd_terms(shape.kernel, shape.stride).size());
  return 4.0 * shape.kernel * shape.kernel / (terms * terms);
}

/// The properties that depend on the shape alone, and the time that each way to divide it would take.
struct WinogradModel {
  static constexpr int kFilteredBytes = 768 * 1024;
  static constexpr int kSumBytes = 512 * 1024;  ///< of sums that stay in the second-level cache until they are added up

  ConvShape shape;
  WinogradDimension dimension;  ///< one for both, rows and columns
  std::vector<RowStream> streams_of_way[kOutputWays];

  explicit WinogradModel(const ConvShape& s)
      : shape(s),
        dimension(s.kernel, s.stride),
        streams_of_way{row_streams(dimension, OutputWay::first), row_streams(dimension, OutputWay::both),
                       row_streams(dimension, OutputWay::opposite), row_streams(dimension, OutputWay::second)} {}

  int column_pairs() const { return (shape.out_width() + 1) / 2; }
  int pairs(int rows) const { return (rows + 1) / 2 * column_pairs(); }
  /// Inputs that `output_pairs` whole pairs of output rows, or columns, read.
  int inputs_of(int output_pairs) const { return (2 * output_pairs - 1) * shape.stride + shape.kernel; }
  int most_column_shift() const {
    int most = 0;
    for (const WinogradTerm& term : dimension.terms) most = std::max(most, dimension.shift(term));
    return most;
  }

  FilteredSizes filtered_sizes(int rows, int columns) const {
    FilteredSizes result{0, dimension.count(), 0, columns + most_column_shift(), shape.channels_per_group() | 1};
    for (const std::vector<RowStream>& streams : streams_of_way) {
      result.row_streams = std::max(result.row_streams, static_cast<int>(streams.size()));
      for (const RowStream& stream : streams) {
        result.row_pairs = std::max(result.row_pairs, (rows + 1) / 2 + stream.last_shift - stream.first_shift);
      }
    }
    return result;
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

  struct ColumnBlocks {
    int columns = 1;
    bool stays_near = false;  ///< whether the filtered inputs stay near
    double cycles = std::numeric_limits<double>::infinity();
  };

  /// The blocks of columns that take the least time for a strip of `rows` rows and `maps` maps. Time is counted in
  /// cycles: two multiply-adds a cycle, plus transposing, filtering and adding up.
  ColumnBlocks best_columns(const InstructionSet& set, int rows, int maps) const {
    constexpr double kTransposing = 5;     // cycles for a vector, read, transposed and written
    constexpr double kFiltering = 4;       // for a vector of filtered inputs
    constexpr double kAddingUp = 60;       // for the two by two outputs of a map
    constexpr double kFromAfar = 30;       // added, if their sums have left the second-level cache
    constexpr double kWaiting = 10;        // added, if the outputs wait for other blocks
    constexpr double kFarFiltering = 4;    // added for each vector that has left the second-level cache
    constexpr double kFarProducts = 1.06;  // times as long in that case
    constexpr double kRun = 12;            // added for each run of filtered inputs, along channels or columns
    const auto terms = static_cast<double>(dimension.terms.size());
    const double channels = shape.channels_per_group();
    const int row_pairs = (rows + 1) / 2;
    ColumnBlocks best;
    for (int blocks = 1; blocks <= column_pairs(); ++blocks) {
      const int columns = (column_pairs() + blocks - 1) / blocks;
      const FilteredSizes filtered = filtered_sizes(rows, columns);
      double filtered_rows = 0;
      for (const std::vector<RowStream>& streams : streams_of_way) {
        for (const RowStream& stream : streams) filtered_rows += row_pairs + stream.last_shift - stream.first_shift;
      }
      const double sum_bytes = 16.0 * maps * row_pairs * columns * set.lanes * 4;
      const bool near = static_cast<double>(filtered.vectors()) * set.lanes * 4 <= kFilteredBytes;
      const double cycles_of_sums = kAddingUp + (sum_bytes > kSumBytes ? kFromAfar : 0) + (blocks > 1 ? kWaiting : 0);
      const double cycles = static_cast<double>(pairs(rows)) * maps * cycles_of_sums +
                            blocks * cycles_of_products(set, row_pairs * columns) * (near ? 1 : kFarProducts) * terms *
                                terms * channels * maps / set.maps +
                            blocks * filtered_rows * filtered.column_streams *
                                (filtered.column_pairs * channels * (kFiltering + (near ? 0 : kFarFiltering)) +
                                 std::min<double>(filtered.column_pairs, channels) * kRun) +
                            channels * inputs_of(row_pairs) * shape.width * kTransposing;
      if (cycles < best.cycles) best = {columns, near, cycles};
    }
    return best;
  }

  /// All divisions, in the order of `lane_divisions`.
  static std::vector<LaneDivision> divisions(const ConvShape& s, const RowWindows& windows, int threads) {
    const WinogradModel model(s);
    const int pair = windows.stride == 1 ? 2 : 1;
    return lane_divisions(s, windows, threads, pair, [&](const InstructionSet& set, int rows, int tiles) {
      const ColumnBlocks best = model.best_columns(set, rows, tiles * set.maps);
      return rows > windows.rows(pair) && !best.stays_near ? std::numeric_limits<double>::infinity() : best.cycles;
    });
  }

 private:
  /// Cycles of one product of a tile of maps with `block_pairs` pairs of rows and columns.
  static double cycles_of_products(const InstructionSet& set, int block_pairs) {
    constexpr double kWeights = 1;  // loads of weights, which come from another cache
    const auto of_tile = [&](int vectors) {
      return std::max(set.maps * vectors, set.maps + vectors) / 2.0 + kWeights;  // two multiply-adds or loads a cycle
    };
    const int tiles = block_pairs / set.vectors;
    const int rest = block_pairs % set.vectors;
    return tiles * of_tile(set.vectors) + (rest > 0 ? of_tile(rest) : 0);
  }
};

}  // namespace convladder
