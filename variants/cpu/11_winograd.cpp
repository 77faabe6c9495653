// Stage 11: Winograd's minimal filtering, two by two outputs at a time.
//
// Against stage 10 the inputs are added to and subtracted from their neighbours before they are multiplied, and so are
// the weights in `prepare`; then two by two outputs of a 3x3 kernel take 16 products for each channel instead of 36,
// of a 5x5 kernel 49 instead of 100, of a 7x7 kernel 100 instead of 196. With images in lanes every addition is one of
// whole vectors, whatever the position. Products that go into the outputs in the same way are added up over all taps
// and channels in the register tile of stage 7; there are 16 ways, and they come together when they are stored. It
// relieves the multipliers, which are what limits wide layers, and costs memory: the filtered inputs take up to nine
// times the place of the inputs. It loses where few maps use them or few channels are added up, and has no use for
// kernels of size 1. Rounding errors are a few times those of the direct sum, well inside of the same tolerance.

#include <fmt/format.h>
#include <omp.h>

#include "variants/cpu/lane_tasks.hpp"
#include "variants/cpu/winograd_terms.hpp"
#include "variants/cpu_variant.hpp"

namespace convladder {
namespace {

/// Every second value of an input filter's results, as many as there are pairs of outputs and `most_shift` more.
struct HalfStream {
  InputFilter filter;
  int parity;  ///< value t belongs to the inputs from 2 * t + parity on
  bool operator==(const HalfStream&) const = default;
};

/// The terms of one dimension, and the half streams that they take their inputs from.
struct Dimension {
  std::vector<WinogradTerm> terms;
  std::vector<HalfStream> streams;
  int most_shift = 0;  ///< of a term's input against its pair of outputs, in pairs

  explicit Dimension(int taps) : terms(winograd_terms(taps)) {
    for (const WinogradTerm& term : terms) {
      const HalfStream stream{term.filter, term.offset % 2};
      if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
      most_shift = std::max(most_shift, term.offset / 2);
    }
  }
  int stream(const WinogradTerm& term) const {
    return static_cast<int>(std::ranges::find(streams, HalfStream{term.filter, term.offset % 2}) - streams.begin());
  }
  int count() const { return static_cast<int>(streams.size()); }
};

/// The filtered inputs of a strip: [row stream][column stream][row pair][column pair][channel][lane].
struct FilteredSizes {
  int streams;  ///< of each dimension
  int row_pairs;
  int column_pairs;
  int channel_pitch;  ///< vectors; odd, so that neighbouring positions fall into different sets of a cache

  std::int64_t offset(int row_stream, int column_stream, int row_pair, int column_pair) const {
    return (((std::int64_t{row_stream} * streams + column_stream) * row_pairs + row_pair) * column_pairs +
            column_pair) *
           channel_pitch;
  }
  std::int64_t vectors() const { return offset(streams, 0, 0, 0); }
};

/// What `prepare` made, the same for all threads.
struct WinogradPlan {
  static constexpr int kSumBytes = 256 * 1024;
  static constexpr int kFilteredBytes = 4 * 1024 * 1024;

  ConvShape shape;
  InstructionSet set;
  MapTiles map_tiles;
  Dimension dimension;  ///< rows and columns alike
  LaneDivision division;
  Strips strips;
  FilteredSizes sizes;
  int maps_at_once;
  std::vector<std::ptrdiff_t> offsets;  ///< of the inputs of all products of a position, in floats, way by way
  std::vector<int> first_product;       ///< of each way of both dimensions, and the end of the last
  AlignedFloats weights;                ///< tile of maps by tile, in each product by product those of the tile's maps
  int pair_columns;                     ///< of the outputs

  WinogradPlan(const ConvShape& s, const float* oihw, int threads)
      : shape(s),
        set(chosen_instruction_set()),
        map_tiles(s.maps_per_group(), set.maps),
        dimension(s.kernel),
        division(divide(threads)),
        strips(s, division.rows),
        sizes(filtered_sizes(division.rows)),
        maps_at_once(std::max(1, static_cast<int>(kSumBytes / bytes_of_sums(division.rows)))),
        pair_columns((s.out_width() + 1) / 2) {
    for (int way = 0; way < kOutputWays * kOutputWays; ++way) {
      first_product.push_back(static_cast<int>(offsets.size()));
      for_each_product(way, [&](const WinogradTerm& row, const WinogradTerm& column, int channel) {
        offsets.push_back(
            (sizes.offset(dimension.stream(row), dimension.stream(column), row.offset / 2, column.offset / 2) +
             channel) *
            set.lanes);
      });
    }
    first_product.push_back(products());
    pack(oihw);
  }

  int products() const { return static_cast<int>(offsets.size()); }
  int pairs(int rows) const { return (rows + 1) / 2 * pair_columns; }
  /// What the filters of a strip's inputs read: whole pairs, and the last one's inputs behind it.
  int input_rows(int row_pairs) const { return 2 * row_pairs + 2; }
  LaneTile input_tile() const {
    return {shape, set.lanes, 1, input_rows(sizes.row_pairs),
            std::max(shape.width + 2 * shape.padding, input_rows(sizes.column_pairs))};
  }

 private:
  FilteredSizes filtered_sizes(int rows) const {
    return {dimension.count(), (rows + 1) / 2 + dimension.most_shift,
            (shape.out_width() + 1) / 2 + dimension.most_shift, shape.channels_per_group() | 1};
  }

  /// Of one tile of maps, all ways.
  std::int64_t bytes_of_sums(int rows) const {
    return std::int64_t{kOutputWays * kOutputWays} * ((rows + 1) / 2) * ((shape.out_width() + 1) / 2) * set.maps *
           set.lanes * 4;
  }

  /// In cycles: two multiply-adds a cycle, and what filtering, adding up and transposing takes.
  LaneDivision divide(int threads) const {
    constexpr double kFiltering = 4;  // cycles for a vector of filtered inputs
    constexpr double kAddingUp = 24;  // for the two by two outputs of a map
    const auto terms = static_cast<double>(dimension.terms.size());
    return least_cost_division(shape, set, map_tiles, threads, 2, [&](int rows, int tiles) {
      const FilteredSizes filtered = filtered_sizes(rows);
      const double filtered_vectors = static_cast<double>(filtered.vectors());
      if (rows > 2 && filtered_vectors * set.lanes * 4 > kFilteredBytes) return std::numeric_limits<double>::infinity();
      const double sums = static_cast<double>((rows + 1) / 2) * ((shape.out_width() + 1) / 2) * tiles * set.maps;
      return sums * (terms * terms * shape.channels_per_group() / 2 + kAddingUp) + filtered_vectors * kFiltering;
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
      for (int q = 0; q < shape.kernel; ++q) {
        sum += row.weights[static_cast<std::size_t>(p)] * column.weights[static_cast<std::size_t>(q)] *
               taps[p * shape.kernel + q];
      }
    }
    return static_cast<float>(sum);
  }
};

/// What a thread works in.
struct WinogradWorkspace {
  LaneTile tile;           ///< of one channel
  AlignedFloats columns;   ///< the channel after the column filters, [column stream][row][column pair][lane]
  AlignedFloats filtered;  ///< as FilteredSizes says
  AlignedFloats sums;      ///< [way][map][pair of rows and columns][lane]
  AlignedFloats outputs;   ///< of one map, [row][column][lane]

  explicit WinogradWorkspace(const WinogradPlan& plan)
      : tile(plan.input_tile()),
        columns(std::int64_t{plan.sizes.streams} * plan.input_rows(plan.sizes.row_pairs) * plan.sizes.column_pairs *
                plan.set.lanes),
        filtered(plan.sizes.vectors() * plan.set.lanes),
        sums(std::int64_t{kOutputWays * kOutputWays} * plan.maps_at_once * plan.set.maps *
             plan.pairs(plan.division.rows) * plan.set.lanes),
        outputs(std::int64_t{plan.division.rows} * plan.shape.out_width() * plan.set.lanes) {}
};

/// to[t] = the filter of the vectors from[2 * t], the one `step` on and the one two steps on.
template <typename Set, int kFilter>
[[gnu::always_inline]] inline void filter_vectors(const float* from, std::ptrdiff_t between, std::ptrdiff_t step,
                                                  int count, float* to, std::ptrdiff_t to_pitch) {
  constexpr auto filter = static_cast<InputFilter>(kFilter);
  for (int t = 0; t < count; ++t, from += between, to += to_pitch) {
    Vector<Set> value;
    load_vector(value, from);
    if constexpr (filter != InputFilter::single) {
      Vector<Set> other;
      load_vector(other, from + (filter == InputFilter::difference_over_two ? 2 : 1) * step);
      value = filter == InputFilter::sum ? value + other : value - other;
    }
    store_vector(to, value);
  }
}

struct WinogradTask {
  const WinogradPlan& plan;
  WinogradWorkspace& work;
  const LanePart& part;
  const float* input;
  float* output;

  template <typename Set>
  static void run(const WinogradTask& task) {
    const StripGroup<Set> strips(task.plan.strips, task.part.first_strip);
    for (int c = 0; c < task.plan.shape.channels_per_group(); ++c) task.template filter_channel<Set>(strips, c);
    for (int tile = task.part.first_map_tile; tile < task.part.end_map_tile;) {
      const int end_tile = std::min(task.part.end_map_tile, tile + task.plan.maps_at_once);
      task.template multiply_tiles<Set>(tile, end_tile, task.plan.pairs(strips.rows));
      task.template store<Set>(strips, tile, end_tile);
      tile = end_tile;
    }
  }

 private:
  template <typename Set>
  void filter_channel(const StripGroup<Set>& strips, int channel) const {
    const FilteredSizes& sizes = plan.sizes;
    const int row_pairs = (strips.rows + 1) / 2 + plan.dimension.most_shift;
    const int rows = plan.input_rows(row_pairs);
    work.tile.load<Set>(input, part.group * plan.shape.channels_per_group() + channel, strips, rows);
    const std::ptrdiff_t row_floats = std::ptrdiff_t{sizes.column_pairs} * Set::lanes;
    for (int s = 0; s < sizes.streams; ++s) {
      const HalfStream& stream = plan.dimension.streams[static_cast<std::size_t>(s)];
      with_filter(stream.filter, [&](auto filter) {
        for (int row = 0; row < rows; ++row) {
          filter_vectors<Set, filter>(work.tile.vectors() + (row * work.tile.pitch() + stream.parity) * Set::lanes,
                                      2 * Set::lanes, Set::lanes, sizes.column_pairs,
                                      work.columns.data() + (s * rows + row) * row_floats, Set::lanes);
        }
      });
    }
    for (int r = 0; r < sizes.streams; ++r) {
      const HalfStream& stream = plan.dimension.streams[static_cast<std::size_t>(r)];
      with_filter(stream.filter, [&](auto filter) {
        for (int s = 0; s < sizes.streams; ++s) {
          for (int pair = 0; pair < row_pairs; ++pair) {
            filter_vectors<Set, filter>(work.columns.data() + (s * rows + 2 * pair + stream.parity) * row_floats,
                                        Set::lanes, row_floats, sizes.column_pairs,
                                        work.filtered.data() + (sizes.offset(r, s, pair, 0) + channel) * Set::lanes,
                                        std::ptrdiff_t{sizes.channel_pitch} * Set::lanes);
          }
        }
      });
    }
  }

  template <typename Body>
  [[gnu::always_inline]] static void with_filter(InputFilter filter, const Body& body) {
    with_constant<kInputFilters>(static_cast<int>(filter) + 1,
                                 [&](auto one_more) { body(std::integral_constant<int, one_more - 1>{}); });
  }

  template <typename Set>
  void multiply_tiles(int first_tile, int end_tile, int pairs) const {
    for (int way = 0; way < kOutputWays * kOutputWays; ++way) {
      for (int pair = 0; pair < pairs; pair += Set::vectors) {
        for (int tile = first_tile; tile < end_tile; ++tile) {
          with_tile_size<Set>(
              plan.map_tiles.size(tile), std::min(Set::vectors, pairs - pair),
              [&](auto maps, auto vectors) { multiply<Set, maps, vectors>(way, tile, first_tile, pair); });
        }
      }
    }
  }

  /// Where the sums of a way and map wait; `map` counts from the first that is worked at.
  float* sums(int way, int map, int pair) const {
    const std::int64_t maps = std::int64_t{way} * plan.maps_at_once * plan.set.maps + map;
    return work.sums.data() + (maps * plan.pairs(plan.division.rows) + pair) * plan.set.lanes;
  }

  template <typename Set, int kMaps, int kVectors>
  void multiply(int way, int map_tile, int first_tile, int pair) const {
    const int map = plan.map_tiles.first(map_tile);
    const int first = plan.first_product[static_cast<std::size_t>(way)];
    const int count = plan.first_product[static_cast<std::size_t>(way) + 1] - first;
    const float* const weights = plan.weights.data() +
                                 (std::int64_t{part.group} * plan.map_tiles.maps() + map) * plan.products() +
                                 std::int64_t{first} * kMaps;
    const float* inputs[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      inputs[v] = work.filtered.data() +
                  plan.sizes.offset(0, 0, (pair + v) / plan.pair_columns, (pair + v) % plan.pair_columns) * Set::lanes;
    }
    const std::ptrdiff_t* const offsets = plan.offsets.data() + first;
    RegisterTile<Set, kMaps, kVectors> tile;
    tile.clear();
    tile.add_each(count, weights, [&](int product, int v) { return inputs[v] + offsets[product]; });
    tile.store(sums(way, map - plan.map_tiles.first(first_tile), pair),
               std::ptrdiff_t{plan.pairs(plan.division.rows)} * Set::lanes);
  }

  template <typename Set>
  void store(const StripGroup<Set>& strips, int first_tile, int end_tile) const {
    const int first_map = plan.map_tiles.first(first_tile);
    for (int map = first_map; map < plan.map_tiles.first(end_tile); ++map) {
      for (int pair = 0; pair < plan.pairs(strips.rows); ++pair) {
        add_up<Set>(map - first_map, pair, strips.rows);
      }
      store_strips<Set>(plan.shape, strips, part.group * plan.shape.maps_per_group() + map, work.outputs.data(),
                        output);
    }
  }

  /// The two by two outputs of a map from the sums of all ways; those beyond the last row and column are left out.
  template <typename Set>
  void add_up(int map, int pair, int rows) const {
    Vector<Set> columns[kOutputWays][2];
#pragma GCC unroll 4
    for (int way = 0; way < kOutputWays; ++way) {
      Vector<Set> of_way[kOutputWays];
#pragma GCC unroll 4
      for (int i = 0; i < kOutputWays; ++i) load_vector(of_way[i], sums(way * kOutputWays + i, map, pair));
      columns[way][0] = of_way[0] + of_way[1] + of_way[2];
      columns[way][1] = of_way[1] - of_way[2] + of_way[3];
    }
    const int row = pair / plan.pair_columns * 2;
    const int column = pair % plan.pair_columns * 2;
    const int width = plan.shape.out_width();
    float* const to = work.outputs.data() + (row * width + column) * Set::lanes;
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      if (column + j >= width) break;
      store_vector(to + j * Set::lanes, columns[0][j] + columns[1][j] + columns[2][j]);
      if (row + 1 < rows) {
        store_vector(to + (width + j) * Set::lanes, columns[1][j] - columns[2][j] + columns[3][j]);
      }
    }
  }
};

class Winograd {
 public:
  Winograd(const ConvShape& shape, const float* weights) : plan_(shape, weights, omp_get_max_threads()) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  void convolve(const float* input, float* output) {
    for_each_lane_part(plan_.shape, plan_.set, plan_.map_tiles, plan_.division, plan_.strips,
                       static_cast<int>(workspaces_.size()), [&](const LanePart& part, int thread) {
                         WinogradWorkspace& work = workspaces_[static_cast<std::size_t>(thread)];
                         run_with<WinogradTask>(plan_.set.kind, WinogradTask{plan_, work, part, input, output});
                       });
  }

  std::string choice() const {
    const auto terms = plan_.dimension.terms.size();
    return fmt::format("{}, {} products for 2x2 outputs, {} maps x {} pairs x {} strips of {} rows, maps in {} parts",
                       plan_.set.name, terms * terms, plan_.set.maps, plan_.set.vectors, plan_.set.lanes,
                       plan_.division.rows, plan_.division.map_parts);
  }

  static std::string unsupported(const ConvShape& s) {
    if (s.stride == 1) return "";
    return fmt::format("kernel {} with stride {}: neighbouring outputs share products with stride 1 only", s.kernel,
                       s.stride);
  }

 private:
  WinogradPlan plan_;
  std::vector<WinogradWorkspace> workspaces_;
};

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 11,
     .name = "winograd",
     .title = "Winograd 2x2",
     .builds_on = "image-lanes",
     .hypothesis = "Less than half of the multiplications for a 3x3 kernel, about half for 5x5 and 7x7."},
    std::make_unique<PreparingCpuVariant<Winograd>>(Winograd::unsupported)};

}  // namespace
}  // namespace convladder
