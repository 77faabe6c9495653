// The plan of the Winograd stage: where filtered inputs lie, its tasks, and the weights of all products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "variants/convolution/cpu/winograd_model.hpp"

namespace convladder {

/// The result of `prepare`, which all threads share.
struct WinogradPlan : WinogradModel {
  RowWindows windows;
  LaneDivision division;
  InstructionSet set;
  MapTiles map_tiles;
  Strips strips;
  bool past_caches;     ///< whether outputs bypass the caches
  int columns_at_once;  ///< column pairs of a block, whose sums are added up before the next block
  FilteredSizes sizes;
  std::vector<std::ptrdiff_t> offsets;  ///< offsets of the inputs of all products of a position, in floats, way by way
  std::vector<int> first_product;       ///< first product of each way of both dimensions, and the end of the last
  AlignedFloats weights;                ///< tile of maps by tile; in each, product by product, those of the tile's maps
  TapWeights tap_weights;               ///< for outputs that are computed directly

  WinogradPlan(const ConvShape& s, const RowWindows& of_rows, const float* oihw, const LaneDivision& divided)
      : WinogradModel(s),
        windows(of_rows),
        division(divided),
        set(division.set),
        map_tiles(s.maps_per_group(), set.maps),
        strips(s.batch, windows, division.windows),
        past_caches(outgrows_caches(s.output_elements())),
        columns_at_once(best_columns(set, division.rows, most_part_maps()).columns),
        sizes(filtered_sizes(division.rows, columns_at_once)),
        tap_weights(s, set.lanes, oihw) {
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
  int most_block_pairs() const { return (division.rows + 1) / 2 * columns_at_once; }
  /// Floats between the sums of two ways of a block: an odd number of vectors, like `FilteredSizes::channel_pitch`.
  std::int64_t way_pitch() const { return std::int64_t{(most_part_maps() * most_block_pairs()) | 1} * set.lanes; }
  /// Floats between the outputs of two maps.
  std::int64_t output_pitch() const { return std::int64_t{division.rows} * shape.out_width() * set.lanes; }
  int most_part_maps() const {
    return std::min(map_tiles.maps(), (map_tiles.count() + division.map_parts - 1) / division.map_parts * set.maps);
  }
  int column_blocks() const { return (column_pairs() + columns_at_once - 1) / columns_at_once; }
  LaneTile input_tile() const {
    return {shape, set.lanes, shape.channels_per_group(), inputs_of((division.rows + 1) / 2),
            std::max(shape.width + 2 * shape.padding,
                     dimension.step * (column_blocks() * columns_at_once + most_column_shift() + 1))};
  }

 private:
  /// The place of a product's input for the first pair of rows and columns.
  std::int64_t input_of(const WinogradTerm& row, const WinogradTerm& column) const {
    const std::vector<RowStream>& streams = streams_of_way[static_cast<int>(row.way)];
    const auto stream = std::ranges::find(streams, dimension.stream_of(row), &RowStream::stream);
    return sizes.offset(static_cast<int>(stream - streams.begin()), dimension.stream(column),
                        dimension.shift(row) - stream->first_shift, dimension.shift(column));
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
              *to++ =
                  winograd_weight(row, column, shape.kernel,
                                  oihw + (std::int64_t{first_map + m} * shape.channels_per_group() + channel) * taps);
            }
          });
        }
      }
    }
  }
};

}  // namespace convladder
