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

namespace convladder {
namespace {

constexpr int kCopyBytes = 448 * 1024;  // a second-level cache has 1 MiB or more

/// Rows of one phase that `rows` output rows need.
int phase_rows(const ConvShape& s, int rows) { return (rows * s.stride + s.kernel - 1) / s.stride; }

/// Rows of the copies for `rows` output rows.
std::int64_t copy_rows_of(const ConvShape& s, int rows) {
  return std::int64_t{s.in_channels} * s.kernel * s.stride * phase_rows(s, rows);
}

/// OIHW -> OIWH: the taps of a column follow each other, as in memory their inputs do.
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

/// The widest tile of so many maps.
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

/// Maps of the largest tile, if none has more than `most`.
int largest_tile(const ConvShape& shape, int most) {
  const MapTiles tiles(shape.maps_per_group(), most);
  return tiles.size(tiles.count() - 1);
}

}  // namespace

ShiftedRowsDivision::ShiftedRowsDivision(const ConvShape& shape, int threads, const Configuration& wanted,
                                         const InstructionSet& with)
    : set(with),
      maps(largest_tile(shape, wanted.value("maps").value_or(set.maps))),
      vectors(wanted.value("vectors").value_or(widest_tile(set, maps))),
      rows(shape.out_height()) {
  // A tile must not be so narrow that additions wait: without the copies it has to be nearly as wide as with them.
  const int widest = vectors;
  const int narrowest = wanted.value("vectors") ? widest : std::max(1, widest - 1);
  for (int of_vectors = widest; of_vectors >= narrowest && !in_place; --of_vectors) {
    in_place = can_be_in_place(shape, of_vectors);
    if (in_place) vectors = of_vectors;
  }
  while (rows > 1 && copy_rows_of(shape, rows) * shape.out_width() * static_cast<int>(sizeof(float)) > kCopyBytes)
    --rows;
  const int bands = std::max((shape.out_height() + rows - 1) / rows,
                             std::min(shape.out_height(), (threads + shape.batch - 1) / shape.batch));
  rows = wanted.value("rows").value_or((shape.out_height() + bands - 1) / bands);
}

bool ShiftedRowsDivision::can_be_in_place(const ConvShape& shape, int of_vectors) const {
  const std::int64_t group_inputs = std::int64_t{shape.channels_per_group()} * shape.height * shape.width;
  return shape.stride == 1 && shape.padding == 0 && shape.out_width() % (of_vectors * set.lanes) == 0 &&
         group_inputs <= std::numeric_limits<int>::max();
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
      plane_(phase_rows(shape, division_.rows) * shape.out_width()),
      copy_(shape, plane_) {
  const MapTiles map_tiles(shape.maps_per_group(), division_.maps);
  const std::int64_t channel_floats = division_.in_place ? std::int64_t{shape.height} * shape.width
                                                         : std::int64_t{shape.kernel} * shape.stride * plane_;
  const std::int64_t group_floats = shape.channels_per_group() * channel_floats;
  const std::int64_t taps = std::int64_t{shape.channels_per_group()} * shape.kernel * shape.kernel;
  for (int group = 0; group < shape.groups; ++group) {
    for (int tile = 0; tile < map_tiles.count(); ++tile) {
      const std::int64_t first_map = std::int64_t{group} * map_tiles.maps() + map_tiles.first(tile);
      tiles_of_maps_.push_back({.maps = map_tiles.size(tile),
                                .weights = first_map * taps,
                                .copies = group * group_floats,
                                .output = first_map * map_pixels_});
    }
  }
  for (int c = 0; c < shape.channels_per_group(); ++c) {
    for (int q = 0; q < shape.kernel; ++q) {
      for (int p = 0; p < shape.kernel; ++p) {
        tap_offsets_.push_back(division_.in_place
                                   ? (c * shape.height + p) * shape.width + q
                                   : ((c * shape.kernel + q) * shape.stride + p % shape.stride) * plane_ +
                                         p / shape.stride * shape.out_width());
      }
    }
  }
}

std::int64_t ShiftedRows::copy_floats() const {
  if (division_.in_place) return 0;
  constexpr int kPastTheLast = 256;      // floats: a tile is loaded whole
  constexpr int kPrefetched = 4096 / 4;  // prefetchers read on in a page, and not in another thread's copies
  return copy_rows_of(shape_, division_.rows) * shape_.out_width() + kPastTheLast + kPrefetched;
}

void ShiftedRows::convolve(float* copies, const float* input, float* output, int band, bool past_caches) const {
  convolve_with<ShiftedRowsTile>(copies, input, output, band, past_caches);
}

bool ShiftedRows::whole_lines() const { return bands() == 1 && map_pixels_ % kLineFloats == 0; }

std::string ShiftedRows::choice() const {
  return fmt::format("{}, tiles of {} maps x {} vectors, bands of {} rows{}", division_.set.name, division_.maps,
                     division_.vectors, division_.rows, division_.in_place ? ", inputs read in place" : "");
}

ShiftedRowsConvolution::ShiftedRowsConvolution(const ConvShape& shape, const float* weights,
                                               const Configuration& wanted)
    : shape_(shape), rows_(shape, weights, ShiftedRowsDivision(shape, omp_get_max_threads(), wanted)) {
  for (int thread = 0; thread < omp_get_max_threads(); ++thread) copies_.emplace_back(rows_.copy_floats());
}

void ShiftedRowsConvolution::convolve(const float* input, float* output, bool past_caches) {
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
                     past_caches);
    }
    if (past_caches) finish_streams();
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
  // Other tiles of maps with the widest tile that goes with them, then narrower tiles, then other bands.
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

}  // namespace convladder
