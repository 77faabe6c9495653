// The work of the Winograd stage on a group of strips of images: filtering, multiplying, adding up. Stage 12 and its
// fused variant share it.
#pragma once

#include "variants/convolution/cpu/winograd_outputs.hpp"
#include "variants/convolution/cpu/winograd_plan.hpp"

namespace convladder {

/// A thread's workspace.
struct WinogradWorkspace {
  LaneTile tile;
  AlignedFloats filtered;  ///< in the order of FilteredSizes
  AlignedFloats sums;      ///< sums of a block of columns: [way][map of the part][pair of rows and columns][lane]
  AlignedFloats outputs;   ///< [map of the part][row][column][lane], or one map alone if there is one block
  FewInputsWorkspace few;

  explicit WinogradWorkspace(const WinogradPlan& plan)
      : tile(plan.input_tile()),
        filtered(plan.sizes.vectors() * plan.set.lanes),
        sums(kOutputWays * kOutputWays * plan.way_pitch()),
        outputs(plan.output_pitch() * (plan.column_blocks() > 1 ? plan.most_part_maps() : 1)),
        few(plan.shape, plan.set.lanes, plan.division.rows) {}
};

/// A task: a group of strips and a part of the maps. `Store` decides where a map's outputs go (StoreStrips).
template <typename Store>
struct WinogradTask {
  static constexpr int kInputsAtOnce = 512;  // rows and channels that are filtered together, in the first-level cache

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
    task.template compute_few<Set>(strips);
    for (int first = 0; first < plan.column_pairs(); first += plan.columns_at_once) {
      const Block block{row_pairs, first, std::min(plan.columns_at_once, plan.column_pairs() - first)};
      for (int row_way = 0; row_way < kOutputWays; ++row_way) {
        task.template filter_inputs<Set>(row_way, block);
        for (int way = row_way * kOutputWays; way < (row_way + 1) * kOutputWays; ++way) {
          task.template multiply_way<Set>(way, block);
        }
      }
      task.template store<Set>(strips, block);
    }
  }

 private:
  /// Pairs of rows and columns whose sums are computed and added up together.
  struct Block {
    int row_pairs;
    int first_column;
    int columns;
    int pairs() const { return row_pairs * columns; }
  };

  int first_map() const { return plan.map_tiles.first(part.first_map_tile); }
  int end_map() const { return plan.map_tiles.first(part.end_map_tile); }

  /// Computes the outputs with few inputs that count directly.
  template <typename Set>
  void compute_few(const StripGroup<Set>& strips) const {
    const FewInputs<Set> few{plan.shape, work.tile, work.few};
    few.find(strips);
    few.compute(plan.tap_weights, part.group, first_map(), end_map() - first_map());
  }

  /// Filters the inputs that a way of the rows needs.
  template <typename Set>
  void filter_inputs(int row_way, const Block& block) const {
    const std::vector<RowStream>& streams = plan.streams_of_way[row_way];
    const int channels = plan.shape.channels_per_group();
    const int columns = block.columns + plan.sizes.column_pairs - plan.columns_at_once;
    const int channels_at_once = std::max(1, kInputsAtOnce / (2 * plan.dimension.step * (columns + 1)));
    for (int r = 0; r < static_cast<int>(streams.size()); ++r) {
      const RowStream& stream = streams[static_cast<std::size_t>(r)];
      const int pairs = block.row_pairs + stream.last_shift - stream.first_shift;
      for (int pair = 0; pair < pairs; ++pair) {
        const int row = plan.dimension.step * (pair + stream.first_shift) + stream.stream.first;
        for (int c = 0; c < channels; c += channels_at_once) {
          const float* const from =
              work.tile.vectors() + (std::int64_t{c} * work.tile.plane() + row * work.tile.pitch() +
                                     plan.dimension.step * block.first_column) *
                                        Set::lanes;
          float* const to = work.filtered.data() + (plan.sizes.offset(r, 0, pair, 0) + c) * Set::lanes;
          filter_row<Set>(stream.stream.filter, from, columns, std::min(channels_at_once, channels - c), to);
        }
      }
    }
  }

  /// Filters one row of pairs in all column streams, for some channels.
  template <typename Set>
  void filter_row(InputFilter row_filter, const float* from, int columns, int channels, float* to) const {
    const Run by_column{columns, plan.dimension.step, plan.sizes.channel_pitch};
    const Run by_channel{channels, work.tile.plane(), 1};
    const bool many_channels = channels >= columns;
    const Run& outer = many_channels ? by_column : by_channel;
    const Run& inner = many_channels ? by_channel : by_column;
    for (int s = 0; s < plan.sizes.column_streams; ++s) {
      const PairStream& stream = plan.dimension.streams[static_cast<std::size_t>(s)];
      const float* input_run = from + stream.first * Set::lanes;
      float* filtered = to + plan.sizes.offset(0, s, 0, 0) * Set::lanes;
      with_constant<2>(row_filter == InputFilter::single ? 1 : 2, [&](auto rows) {
        with_constant<2>(stream.filter == InputFilter::single ? 1 : 2, [&](auto filter_columns) {
          for (int i = 0; i < outer.count; ++i) {
            filter_run<Set, rows, filter_columns>(input_run, row_filter, stream.filter, inner, filtered);
            input_run += outer.input_pitch * Set::lanes;
            filtered += outer.filtered_pitch * Set::lanes;
          }
        });
      });
    }
  }

  /// Where vectors of inputs are and where their filtered ones go, in vectors.
  struct Run {
    int count;
    std::ptrdiff_t input_pitch;
    std::ptrdiff_t filtered_pitch;
  };

  /// Applies the filters of a row and a column, which take one or two inputs each.
  template <typename Set, int kRows, int kColumns>
  void filter_run(const float* from, InputFilter row_filter, InputFilter column_filter, const Run& run,
                  float* to) const {
    const std::ptrdiff_t below = std::ptrdiff_t{reach(row_filter)} * plan.shape.stride * work.tile.pitch() * Set::lanes;
    const std::ptrdiff_t beside = std::ptrdiff_t{reach(column_filter)} * plan.shape.stride * Set::lanes;
    const float sign_below = sign(row_filter);
    const float sign_beside = sign(column_filter);
    const std::ptrdiff_t input_pitch = run.input_pitch * Set::lanes;
    const std::ptrdiff_t filtered_pitch = run.filtered_pitch * Set::lanes;
    for (int i = 0; i < run.count; ++i, from += input_pitch, to += filtered_pitch) {
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
  void multiply_way(int way, const Block& block) const {
    if (plan.first_product[static_cast<std::size_t>(way)] == plan.first_product[static_cast<std::size_t>(way) + 1]) {
      return;
    }
    for (int pair = 0; pair < block.pairs(); pair += Set::vectors) {
      for (int tile = part.first_map_tile; tile < part.end_map_tile; ++tile) {
        with_tile_size<Set>(plan.map_tiles.size(tile), std::min(Set::vectors, block.pairs() - pair),
                            [&](auto maps, auto vectors) { multiply<Set, maps, vectors>(way, tile, block, pair); });
      }
    }
  }

  /// Where the sums of a way and map wait; `map` counts from the part's first.
  float* sums(int way, int map, int pair) const {
    return work.sums.data() + way * plan.way_pitch() +
           (std::int64_t{map} * plan.most_block_pairs() + pair) * plan.set.lanes;
  }

  template <typename Set, int kMaps, int kVectors>
  void multiply(int way, int map_tile, const Block& block, int pair) const {
    const int map = plan.map_tiles.first(map_tile);
    const int first = plan.first_product[static_cast<std::size_t>(way)];
    const int count = plan.first_product[static_cast<std::size_t>(way) + 1] - first;
    const float* const weights = plan.weights.data() +
                                 (std::int64_t{part.group} * plan.map_tiles.maps() + map) * plan.products() +
                                 std::int64_t{first} * kMaps;
    const float* inputs[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int row_pair = (pair + v) / block.columns;
      const int column_pair = (pair + v) % block.columns;
      inputs[v] = work.filtered.data() + plan.sizes.offset(0, 0, row_pair, column_pair) * Set::lanes;
    }
    const std::ptrdiff_t* const offsets = plan.offsets.data() + first;
    RegisterTile<Set, kMaps, kVectors> tile;
    tile.clear();
    tile.add_each(count, weights, [&](int product, int v) { return inputs[v] + offsets[product]; });
    tile.store(sums(way, map - first_map(), pair), std::ptrdiff_t{plan.most_block_pairs()} * Set::lanes);
  }

  /// Adds up the sums of a block, and stores the maps after the last one.
  template <typename Set>
  void store(const StripGroup<Set>& strips, const Block& block) const {
    const bool opposite = plan.dimension.uses(OutputWay::opposite);
    const bool is_last = block.first_column + block.columns == plan.column_pairs();
    const FewInputs<Set> few{plan.shape, work.tile, work.few};
    const int maps = end_map() - first_map();
    for (int map = 0; map < maps; ++map) {
      float* const outputs = work.outputs.data() + (plan.column_blocks() > 1 ? map * plan.output_pitch() : 0);
      if (opposite) {
        add_up_block<Set, true>(map, block, strips.rows, outputs);
      } else {
        add_up_block<Set, false>(map, block, strips.rows, outputs);
      }
      if (!is_last) continue;
      few.replace(map, outputs);
      to.template store<Set>(strips, part.group * plan.shape.maps_per_group() + first_map() + map, outputs);
    }
  }

  /// Computes the outputs of a map from the sums of all ways; those beyond the last row and column are left out.
  template <typename Set, bool kOpposite>
  void add_up_block(int map, const Block& block, int rows, float* outputs) const {
    const int width = plan.shape.out_width();
    const float* from = sums(0, map, 0);
    for (int row = 0; row < 2 * block.row_pairs; row += 2) {
      float* to = outputs + (std::ptrdiff_t{row} * width + 2 * block.first_column) * Set::lanes;
      const int whole = std::min(block.columns, width / 2 - block.first_column);
      for (int column = 0; column < block.columns; ++column) {
        const int columns = column < whole ? 2 : 1;
        add_up_ways<Set, kOpposite>(from, plan.way_pitch(), std::min(2, rows - row), columns, to,
                                    std::ptrdiff_t{width} * Set::lanes);
        from += Set::lanes;
        to += 2 * Set::lanes;
      }
    }
  }
};

}  // namespace convladder
