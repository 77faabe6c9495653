// The work of the Winograd stage on a group of strips of images: filtering, multiplying, adding up. Stage 12 and what
// fuses it share it.
#pragma once

#include "variants/convolution/cpu/winograd_plan.hpp"

namespace convladder {

/// What a thread works in.
struct WinogradWorkspace {
  LaneTile tile;
  AlignedFloats filtered;  ///< as FilteredSizes says
  AlignedFloats sums;      ///< [way][map of the part][pair of rows and columns][lane]
  AlignedFloats outputs;   ///< of one map, [row][column][lane]

  explicit WinogradWorkspace(const WinogradPlan& plan)
      : tile(plan.input_tile()),
        filtered(plan.sizes.vectors() * plan.set.lanes),
        sums(std::int64_t{kOutputWays * kOutputWays} * plan.most_part_maps() * plan.pairs(plan.division.rows) *
             plan.set.lanes),
        outputs(std::int64_t{plan.division.rows} * plan.shape.out_width() * plan.set.lanes) {}
};

/// A group of strips and a part of the maps. `Store` says what becomes of a map's outputs (StoreStrips).
template <typename Store>
struct WinogradTask {
  static constexpr int kChannelsAtOnce = 32;  // whose inputs around an output stay in the first-level cache

  const WinogradPlan& plan;
  WinogradWorkspace& work;
  const LanePart& part;
  const float* input;
  const Store& to;

  template <typename Set>
  static void run(const WinogradTask& task) {
    const WinogradPlan& plan = task.plan;
    const StripGroup<Set> strips(plan.strips, task.part.first_strip);
    const int row_pairs = (strips.rows + 1) / 2;
    task.work.tile.template load<Set>(task.input, task.part.group * plan.shape.channels_per_group(), strips,
                                      plan.inputs_of(row_pairs));
    for (int row_way = 0; row_way < kOutputWays; ++row_way) {
      task.template filter_inputs<Set>(row_way, row_pairs);
      for (int way = row_way * kOutputWays; way < (row_way + 1) * kOutputWays; ++way) {
        task.template multiply_way<Set>(way, plan.pairs(strips.rows));
      }
    }
    task.template store<Set>(strips);
  }

 private:
  /// The filtered inputs that a way of the rows needs.
  template <typename Set>
  void filter_inputs(int row_way, int row_pairs) const {
    const std::vector<RowStream>& streams = plan.streams_of_way[row_way];
    for (int r = 0; r < static_cast<int>(streams.size()); ++r) {
      const RowStream& stream = streams[static_cast<std::size_t>(r)];
      const int pairs = row_pairs + stream.last_shift - stream.first_shift;
      for (int pair = 0; pair < pairs; ++pair) {
        const int row = 2 * (pair + stream.first_shift) + stream.stream.parity;
        for (int c = 0; c < plan.shape.channels_per_group(); c += kChannelsAtOnce) {
          filter_row<Set>(stream.stream.filter, r, pair, row, c);
        }
      }
    }
  }

  /// One row of pairs, all column streams, of some channels.
  template <typename Set>
  void filter_row(InputFilter row_filter, int row_stream, int pair, int row, int first_channel) const {
    const int channels = std::min(kChannelsAtOnce, plan.shape.channels_per_group() - first_channel);
    const float* const from =
        work.tile.vectors() + (std::int64_t{first_channel} * work.tile.plane() + row * work.tile.pitch()) * Set::lanes;
    for (int column = 0; column < plan.sizes.column_pairs; ++column) {
      for (int s = 0; s < plan.sizes.column_streams; ++s) {
        const HalfStream& stream = plan.dimension.streams[static_cast<std::size_t>(s)];
        const float* const pixel = from + (2 * column + stream.parity) * Set::lanes;
        float* const to =
            work.filtered.data() + (plan.sizes.offset(row_stream, s, pair, column) + first_channel) * Set::lanes;
        with_constant<2>(row_filter == InputFilter::single ? 1 : 2, [&](auto rows) {
          with_constant<2>(stream.filter == InputFilter::single ? 1 : 2, [&](auto columns) {
            filter_position<Set, rows, columns>(pixel, row_filter, stream.filter, channels, to);
          });
        });
      }
    }
  }

  /// The filters of a row and a column, which take one or two inputs each, of one position of some channels.
  template <typename Set, int kRows, int kColumns>
  void filter_position(const float* from, InputFilter row_filter, InputFilter column_filter, int channels,
                       float* to) const {
    const std::ptrdiff_t below = std::ptrdiff_t{reach(row_filter)} * work.tile.pitch() * Set::lanes;
    const std::ptrdiff_t beside = std::ptrdiff_t{reach(column_filter)} * Set::lanes;
    const float sign_below = sign(row_filter);
    const float sign_beside = sign(column_filter);
    const std::ptrdiff_t plane = std::ptrdiff_t{work.tile.plane()} * Set::lanes;
    for (int c = 0; c < channels; ++c, from += plane, to += Set::lanes) {
      Vector<Set> rows[kRows];
      for (int row = 0; row < kRows; ++row) {
        load_vector(rows[row], from + row * below);
        if constexpr (kColumns == 2) {
          Vector<Set> other;
          load_vector(other, from + row * below + beside);
          rows[row] += sign_beside * other;
        }
      }
      if constexpr (kRows == 2) rows[0] += sign_below * rows[1];
      store_vector(to, rows[0]);
    }
  }

  template <typename Set>
  void multiply_way(int way, int pairs) const {
    if (plan.first_product[static_cast<std::size_t>(way)] == plan.first_product[static_cast<std::size_t>(way) + 1]) {
      return;
    }
    for (int pair = 0; pair < pairs; pair += Set::vectors) {
      for (int tile = part.first_map_tile; tile < part.end_map_tile; ++tile) {
        with_tile_size<Set>(plan.map_tiles.size(tile), std::min(Set::vectors, pairs - pair),
                            [&](auto maps, auto vectors) { multiply<Set, maps, vectors>(way, tile, pair); });
      }
    }
  }

  /// Where the sums of a way and map wait; `map` counts from the part's first.
  float* sums(int way, int map, int pair) const {
    const std::int64_t maps = std::int64_t{way} * plan.most_part_maps() + map;
    return work.sums.data() + (maps * plan.pairs(plan.division.rows) + pair) * plan.set.lanes;
  }

  template <typename Set, int kMaps, int kVectors>
  void multiply(int way, int map_tile, int pair) const {
    const int map = plan.map_tiles.first(map_tile);
    const int first = plan.first_product[static_cast<std::size_t>(way)];
    const int count = plan.first_product[static_cast<std::size_t>(way) + 1] - first;
    const float* const weights = plan.weights.data() +
                                 (std::int64_t{part.group} * plan.map_tiles.maps() + map) * plan.products() +
                                 std::int64_t{first} * kMaps;
    const float* inputs[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int row_pair = (pair + v) / plan.column_pairs();
      const int column_pair = (pair + v) % plan.column_pairs();
      inputs[v] = work.filtered.data() + plan.sizes.offset(0, 0, row_pair, column_pair) * Set::lanes;
    }
    const std::ptrdiff_t* const offsets = plan.offsets.data() + first;
    RegisterTile<Set, kMaps, kVectors> tile;
    tile.clear();
    tile.add_each(count, weights, [&](int product, int v) { return inputs[v] + offsets[product]; });
    tile.store(sums(way, map - plan.map_tiles.first(part.first_map_tile), pair),
               std::ptrdiff_t{plan.pairs(plan.division.rows)} * Set::lanes);
  }

  template <typename Set>
  void store(const StripGroup<Set>& strips) const {
    const int first_map = plan.map_tiles.first(part.first_map_tile);
    const bool opposite = plan.dimension.uses(OutputWay::opposite);
    for (int map = first_map; map < plan.map_tiles.first(part.end_map_tile); ++map) {
      for (int pair = 0; pair < plan.pairs(strips.rows); ++pair) {
        if (opposite) {
          add_up<Set, true>(map - first_map, pair, strips.rows);
        } else {
          add_up<Set, false>(map - first_map, pair, strips.rows);
        }
      }
      to.template store<Set>(strips, part.group * plan.shape.maps_per_group() + map, work.outputs.data());
    }
  }

  /// What the sums of the four ways make of two outputs.
  template <typename Set, bool kOpposite, typename Load>
  [[gnu::always_inline]] static void two_outputs(Vector<Set>& first, Vector<Set>& second, const Load& load) {
    Vector<Set> both;
    load(first, static_cast<int>(OutputWay::first));
    load(second, static_cast<int>(OutputWay::second));
    load(both, static_cast<int>(OutputWay::both));
    first += both;
    second += both;
    if constexpr (kOpposite) {
      Vector<Set> opposite;
      load(opposite, static_cast<int>(OutputWay::opposite));
      first += opposite;
      second -= opposite;
    }
  }

  /// The two by two outputs of a map from the sums of all ways; those beyond the last row and column are left out.
  template <typename Set, bool kOpposite>
  void add_up(int map, int pair, int rows) const {
    Vector<Set> columns[kOutputWays][2];
#pragma GCC unroll 4
    for (int way = 0; way < kOutputWays; ++way) {
      if (!kOpposite && way == static_cast<int>(OutputWay::opposite)) continue;
      two_outputs<Set, kOpposite>(columns[way][0], columns[way][1], [&](Vector<Set>& to, int column_way) {
        load_vector(to, sums(way * kOutputWays + column_way, map, pair));
      });
    }
    const int row = pair / plan.column_pairs() * 2;
    const int column = pair % plan.column_pairs() * 2;
    const int width = plan.shape.out_width();
    float* const to = work.outputs.data() + (row * width + column) * Set::lanes;
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      if (column + j >= width) break;
      Vector<Set> upper;
      Vector<Set> lower;
      two_outputs<Set, kOpposite>(upper, lower, [&](Vector<Set>& value, int way) { value = columns[way][j]; });
      store_vector(to + j * Set::lanes, upper);
      if (row + 1 < rows) store_vector(to + (width + j) * Set::lanes, lower);
    }
  }
};

}  // namespace convladder
