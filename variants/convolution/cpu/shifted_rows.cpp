#include "variants/convolution/cpu/shifted_rows.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "variants/convolution/cpu/cache_lines.hpp"
#include "variants/convolution/cpu/shifted_rows_band.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

constexpr int kCopyBytes = 448 * 1024;  // a second-level cache has 1 MiB or more

/// Rows of one phase that `rows` output rows need.
int phase_rows(const ConvShape& s, int rows) { return (rows * s.stride + s.kernel - 1) / s.stride; }

/// Rows of the copies for `rows` output rows.
std::int64_t copy_rows_of(const ConvShape& s, int rows) {
  return std::int64_t{s.in_channels} * s.kernel * s.stride * phase_rows(s, rows);
}

/// Floats from one copy to the next: all copies begin at the same place in a cache line.
int whole_lines_of(int floats) { return rounded_up_quotient(floats, kLineFloats) * kLineFloats; }

/// OIHW -> OIWH: the taps of a column follow each other, as their inputs do in memory.
std::vector<float> column_by_column(const ConvShape& s, const float* weights) {
  std::vector<float> turned;
  turned.reserve(static_cast<std::size_t>(s.weight_elements()));
  const int filter = s.kernel * s.kernel;
  for (std::int64_t first = 0; first < s.weight_elements(); first += filter) {
    for (int i = 0; i < filter; ++i) turned.push_back(weights[first + i % s.kernel * s.kernel + i / s.kernel]);
  }
  return turned;
}

}  // namespace

namespace {

/// The widest tile of a given number of maps.
struct WidestTile {
  int maps;
  int* vectors;
  template <typename Set>
  static void run(const WidestTile& tile) {
    *tile.vectors = shifted_tile_vectors<Set>(tile.maps);
  }
};
int widest_tile(const InstructionSet& set, int maps) {
  int vectors = 0;
  run_with<WidestTile>(set.kind, WidestTile{maps, &vectors});
  return vectors;
}

/// Maps of the largest tile, if no tile may have more than `most`.
int largest_tile(const ConvShape& shape, int most) {
  const MapTiles tiles(shape.maps_per_group(), most);
  return tiles.size(tiles.count() - 1);
}

}  // namespace

TileStores cached_stores(const ConvShape& shape, int threads) {
  return outgrows_second_level(shape.output_elements(), threads) ? TileStores::prefetched : TileStores::plain;
}

const char* stores_text(TileStores stores) {
  switch (stores) {
    case TileStores::plain:
      return ", stored through the caches";
    case TileStores::prefetched:
      return ", output lines prefetched";
    case TileStores::past_caches:
      return ", streamed from registers";
  }
  return "";
}

ShiftedRowsDivision::ShiftedRowsDivision(const ConvShape& shape, int threads, const Configuration& wanted,
                                         const InstructionSet& with)
    : set(with),
      maps(largest_tile(shape, wanted.value("maps").value_or(set.maps))),
      vectors(wanted.value("vectors").value_or(widest_tile(set, maps))),
      rows(shape.out_height()) {
  // A tile must not be so narrow that additions wait for each other: without the copies it has to be nearly as wide as
  // with them.
  const int widest = vectors;
  const int narrowest = wanted.value("vectors") ? widest : std::max(1, widest - 1);
  for (int of_vectors = widest; of_vectors >= narrowest && columns_in_place == 0; --of_vectors) {
    columns_in_place = possible_columns_in_place(shape, of_vectors);
    if (columns_in_place > 0) vectors = of_vectors;
  }
  while (rows > 1 && copy_rows_of(shape, rows) * shape.out_width() * static_cast<int>(sizeof(float)) > kCopyBytes)
    --rows;
  const int bands = std::max((shape.out_height() + rows - 1) / rows,
                             std::min(shape.out_height(), (threads + shape.batch - 1) / shape.batch));
  rows = wanted.value("rows").value_or((shape.out_height() + bands - 1) / bands);
}

ShiftedRowsDivision ShiftedRowsDivision::all_copied() const {
  ShiftedRowsDivision result = *this;
  if (columns_in_place > 0) result.vectors = widest_tile(set, maps);
  result.columns_in_place = 0;
  return result;
}

int ShiftedRowsDivision::possible_columns_in_place(const ConvShape& shape, int of_vectors) const {
  const std::int64_t group_inputs = std::int64_t{shape.channels_per_group()} * shape.height * shape.width;
  if (shape.stride != 1 || shape.padding != 0 || group_inputs > std::numeric_limits<int>::max()) return 0;
  const int copied = shape.out_width() % (of_vectors * set.lanes);
  // Outputs of copied columns are stored a few columns at a time; whole runs of lines can be streamed from registers.
  const bool can_stream = std::int64_t{shape.out_height()} * shape.out_width() % kLineFloats == 0;
  const int most_copied = can_stream ? 0 : ShiftedCopy::most_few_columns(set.lanes);
  return copied <= most_copied ? shape.out_width() - copied : 0;
}

Configuration ShiftedRowsDivision::largest(const ConvShape& shape) {
  const InstructionSet set = chosen_instruction_set();
  return Configuration({{"maps", std::min(set.maps, shape.maps_per_group())},
                        {"vectors", 2 * set.vectors},
                        {"rows", shape.out_height()}});
}

Configuration ShiftedRowsDivision::configuration() const {
  return Configuration({{"maps", maps}, {"vectors", vectors}, {"rows", rows}});
}

AlignedFloats ShiftedRows::unpacked_weights(const ConvShape& shape, const float* weights) {
  AlignedFloats unpacked(shape.weight_elements());
  std::ranges::copy(column_by_column(shape, weights), unpacked.data());
  return unpacked;
}

AlignedFloats ShiftedRows::packed_weights(const ConvShape& shape, const float* weights, int maps) {
  return pack_weights(shape, MapTiles(shape.maps_per_group(), maps), column_by_column(shape, weights).data());
}

ShiftedRows::ShiftedRows(const ConvShape& shape, const float* weights, const ShiftedRowsDivision& division)
    : ShiftedRows(shape, packed_weights(shape, weights, division.maps), division) {}

ShiftedRows::ShiftedRows(const ConvShape& shape, AlignedFloats weights, const ShiftedRowsDivision& division)
    : shape_(shape),
      division_(division),
      map_pixels_(std::int64_t{shape.out_height()} * shape.out_width()),
      weights_(std::move(weights)),
      plane_(whole_lines_of(phase_rows(shape, division_.rows) * copied_columns())),
      copy_(shape, division_.columns_in_place, plane_) {
  const MapTiles map_tiles(shape.maps_per_group(), division_.maps);
  const std::int64_t group_inputs = std::int64_t{shape.channels_per_group()} * shape.height * shape.width;
  const std::int64_t group_copies = std::int64_t{shape.channels_per_group()} * shape.kernel * shape.stride * plane_;
  const std::int64_t taps = std::int64_t{shape.channels_per_group()} * shape.kernel * shape.kernel;
  for (int group = 0; group < shape.groups; ++group) {
    for (int tile = 0; tile < map_tiles.count(); ++tile) {
      const int first_map = group * map_tiles.maps() + map_tiles.first(tile);
      tiles_of_maps_.push_back({.maps = map_tiles.size(tile),
                                .weights = std::int64_t{first_map} * taps,
                                .input = group * group_inputs,
                                .copies = group * group_copies,
                                .first_map = first_map});
    }
  }
  for (int c = 0; c < shape.channels_per_group(); ++c) {
    for (int q = 0; q < shape.kernel; ++q) {
      for (int p = 0; p < shape.kernel; ++p) {
        if (in_place()) input_offsets_.push_back((c * shape.height + p) * shape.width + q);
        tap_offsets_.push_back(((c * shape.kernel + q) * shape.stride + p % shape.stride) * plane_ +
                               p / shape.stride * copied_columns());
      }
    }
  }
}

std::int64_t ShiftedRows::floats_of_copies() const {
  if (copied_columns() == 0) return 0;
  constexpr int kPastTheLast = 256;  // floats: the last tile is loaded whole
  // Hardware prefetchers read on beyond the end, which must not be another thread's copies. A page of 4 KiB between
  // them was not enough on Zen 4: with two threads, lenet48's second layer took up to 3 % longer, depending on where
  // the copies happened to lie.
  constexpr int kPrefetched = 16 * 1024 / 4;
  return std::int64_t{shape_.in_channels} * shape_.kernel * shape_.stride * plane_ + kPastTheLast + kPrefetched;
}

std::int64_t ShiftedRows::copy_floats() const {
  const std::int64_t outputs = in_place() ? whole_lines_of(division_.rows * copied_columns()) : 0;
  return floats_of_copies() + outputs * division_.set.maps;
}

void ShiftedRows::convolve(float* copies, const float* input, float* output, int band, TileStores stores) const {
  convolve_with<ShiftedRowsTile>(copies, input, output, band, stores);
}

int ShiftedRows::first_map(int tile) const {
  return tile == map_tiles() ? shape_.out_channels : tiles_of_maps_[static_cast<std::size_t>(tile)].first_map;
}

int ShiftedRows::vectors_of(int rows) const {
  const int lanes = division_.set.lanes;
  return rows * division_.columns_in_place / lanes + rounded_up_quotient(rows * copied_columns(), lanes);
}

void ShiftedRows::copy(float* copies, const float* input) const {
  convolve_with<ShiftedRowsTile>(copies, input, nullptr, 0, TileStores::plain, BandPart::copies);
}

void ShiftedRows::convolve(float* copies, const float* input, const RowsOfMaps& which) const {
  run_with<ShiftedRowsBand<ShiftedRowsTile>>(
      division_.set.kind,
      ShiftedRowsBand<ShiftedRowsTile>{*this, copies, 0, input, which, TileStores::plain, BandPart::sums});
}

bool ShiftedRows::whole_lines() const { return bands() == 1 && map_pixels_ % kLineFloats == 0; }

std::string ShiftedRows::choice() const {
  const std::string in_place_text = copied_columns() == 0 ? ", inputs read in place"
                                    : in_place()
                                        ? fmt::format(", inputs of all but {} columns read in place", copied_columns())
                                        : "";
  return fmt::format("{}, tiles of {} maps x {} vectors, bands of {} rows{}", division_.set.name, division_.maps,
                     division_.vectors, division_.rows, in_place_text);
}

ShiftedRowsConvolution::ShiftedRowsConvolution(const ConvShape& shape, const float* weights,
                                               const Configuration& wanted)
    : shape_(shape), rows_(shape, weights, ShiftedRowsDivision(shape, omp_get_max_threads(), wanted)) {
  for (int thread = 0; thread < omp_get_max_threads(); ++thread) copies_.emplace_back(rows_.copy_floats());
}

void ShiftedRowsConvolution::convolve(const float* input, float* output, TileStores stores) {
  const int threads = static_cast<int>(copies_.size());
  const std::int64_t tasks = std::int64_t{shape_.batch} * rows_.bands();
#pragma omp parallel num_threads(threads)
  {
    float* const copies = copies_[static_cast<std::size_t>(omp_get_thread_num())].data();
#pragma omp for schedule(static) nowait
    for (std::int64_t task = 0; task < tasks; ++task) {
      const std::int64_t image = task / rows_.bands();
      rows_.convolve(copies, input + image * shape_.input_elements_per_image(),
                     output + image * shape_.output_elements_per_image(), static_cast<int>(task % rows_.bands()),
                     stores);
    }
    if (stores == TileStores::past_caches) finish_streams();
  }
}

std::string ShiftedRowsConvolution::impossible(const ConvShape& shape, const Configuration& wanted) {
  const Configuration largest = ShiftedRowsDivision::largest(shape);
  for (const Parameter& parameter : wanted.parameters()) {
    const std::optional<int> most = largest.value(parameter.name);
    if (!most) return impossible_configuration(wanted, std::span(&largest, 1), shape_name(shape));
    if (parameter.value < 1 || parameter.value > *most) {
      return fmt::format("{}={} is not possible for {}; possible: 1 to {}", parameter.name, parameter.value,
                         shape_name(shape), *most);
    }
  }
  return {};
}

Configurations ShiftedRowsConvolution::configurations(const ConvShape& shape, const Configuration& wanted, int most) {
  const auto complete = [&](const Configuration& some) {
    return ShiftedRowsDivision(shape, omp_get_max_threads(), some).configuration();
  };
  const Configuration by_model = complete(wanted);
  const Configuration largest = ShiftedRowsDivision::largest(shape);
  std::vector<Configuration> all = {by_model};
  const auto add = [&](const Configuration& other) {
    if (wanted.agrees_with(other) && impossible(shape, other).empty()) all.push_back(complete(other));
  };
  // Other tiles of maps with their widest tile, then narrower tiles, then other bands.
  for (int maps = *largest.value("maps"); maps >= 2; --maps) add(wanted.with(Configuration({{"maps", maps}})));
  const int vectors = *by_model.value("vectors");
  for (const int other : {vectors - 1, vectors + 1, vectors - 2})
    add(by_model.with(Configuration({{"vectors", other}})));
  const int rows = *by_model.value("rows");
  for (const int other : {(rows + 1) / 2, (rows + 2) / 3, (rows + 3) / 4, 2 * rows, *largest.value("rows")}) {
    add(by_model.with(Configuration({{"rows", other}})));
  }
  long possible = 1;
  for (const Parameter& parameter : largest.parameters())
    possible *= wanted.value(parameter.name) ? 1 : parameter.value;
  return {candidates_of(all, wanted, most), by_model, possible, {"rows"}};
}

template void ShiftedRows::convolve_with<ShiftedRowsTile>(float*, const float*, float*, int, TileStores,
                                                          BandPart) const;

}  // namespace convladder
