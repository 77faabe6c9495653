// The code of a band of `ShiftedRows`, which works with any code for its register tiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "variants/convolution/cpu/cache_lines.hpp"
#include "variants/convolution/cpu/register_tile.hpp"
#include "variants/convolution/cpu/shifted_copy.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"

namespace convladder {

/// Vectors of a register tile of `maps` maps: more of them with few maps, so that there are enough sums to hide an
/// addition's latency and as many multiply-adds for each load. The registers also hold the tile's pixels, a weight and
/// a product.
template <typename Set>
constexpr int shifted_tile_vectors(int maps) {
  return std::clamp((Set::registers - 2) / (maps + 1), 1, 2 * Set::vectors);
}

/// Computes the outputs of some maps and vectors of pixels. `pixels` points to the copies, or the input, at the first
/// output; `offsets` are those of the taps in them; `pitch` is the number of floats between two maps in `to`.
//
// All parameters fit into registers, and the function has no frame: a core tracks a few dozen stores on their way to
// memory, and those of the previous outputs are among them.
using ShiftedTileFunction = void (*)(const float* pixels, const float* weights, const int* offsets, int taps, float* to,
                                     std::ptrdiff_t pitch);

/// Calls body(first, end) for consecutive runs of taps that cover all of them, and meanwhile prefetches the lines of
/// the output if they are to be prefetched.
//
// One map's lines every two taps: prefetching all at once would fill the core's buffers for lines that are on their
// way.
template <typename Set, int kMaps, int kVectors, TileStores kStores, typename Body>
[[gnu::always_inline]] inline void for_runs_of_taps(int taps, const float* to, std::ptrdiff_t pitch, const Body& body) {
  int first = 0;
  if constexpr (kStores == TileStores::prefetched) {
    constexpr int kTapsOfMap = 2;
    constexpr int kLines = (kVectors * Set::lanes - 1) / kLineFloats + 2;  // wherever in a line the first output is
    for (int m = 0; m < kMaps; ++m, to += pitch) {
      for (int line = 0; line < kLines; ++line) prefetch_for_store(to + line * kLineFloats);
      const int end = std::min(first + kTapsOfMap, taps);
      body(first, end);
      first = end;
    }
  }
  body(first, taps);
}

template <int kMaps, int kVectors, TileStores kStores>
struct ShiftedRowsTile {
  template <typename Set>
  static void run(const float* pixels, const float* weights, const int* offsets, int taps, float* to,
                  std::ptrdiff_t pitch) {
    RegisterTile<Set, kMaps, kVectors> sums;
    sums.clear();
    for_runs_of_taps<Set, kMaps, kVectors, kStores>(taps, to, pitch, [&](int first, int end) {
      sums.add(end - first, weights + std::ptrdiff_t{first} * kMaps,
               [&](int tap) { return pixels + offsets[first + tap]; });
    });
    if constexpr (kStores == TileStores::past_caches) {
      sums.stream(to, pitch);
    } else {
      sums.store(to, pitch);
    }
  }
};

/// The code of `Tile` for tiles of a given number of maps: of the widest tile, or of the widest one for one map more,
/// of one vector less, and of one vector; none for other numbers of vectors.
template <typename Set, template <int, int, TileStores> class Tile>
class ShiftedTileFunctions {
 public:
  constexpr ShiftedTileFunctions() { add_maps<Set::maps>(); }
  ShiftedTileFunction at(int maps, int vectors, TileStores stores) const {
    return of_[static_cast<int>(stores)][maps][vectors];
  }

 private:
  template <int kMaps>
  constexpr void add_maps() {
    add<kMaps, 1>();
    add_vectors<kMaps, std::max(2, shifted_tile_vectors<Set>(kMaps + 1) - 1)>();
    if constexpr (kMaps > 1) add_maps<kMaps - 1>();
  }
  template <int kMaps, int kVectors>
  constexpr void add_vectors() {
    if constexpr (kVectors <= shifted_tile_vectors<Set>(kMaps)) {
      add<kMaps, kVectors>();
      add_vectors<kMaps, kVectors + 1>();
    }
  }
  template <int kMaps, int kVectors>
  constexpr void add() {
    add<kMaps, kVectors, TileStores::plain>();
    add<kMaps, kVectors, TileStores::prefetched>();
    add<kMaps, kVectors, TileStores::past_caches>();
  }
  template <int kMaps, int kVectors, TileStores kStores>
  constexpr void add() {
    of_[static_cast<int>(kStores)][kMaps][kVectors] = function<Tile<kMaps, kVectors, kStores>>();
  }

  template <typename Body>
  static constexpr ShiftedTileFunction function() {
    return compiled_for<Set, Body, const float*, const float*, const int*, int, float*, std::ptrdiff_t>();
  }

  ShiftedTileFunction of_[3][Set::maps + 1][2 * Set::vectors + 1] = {};
};

/// One band, or a part of one, as the code for an instruction set sees it.
template <template <int, int, TileStores> class Tile>
struct ShiftedRowsBand {
  const ShiftedRows& plan;
  float* copies;
  int copied_from;  ///< the first output row that the copies cover
  const float* input;
  RowsOfMaps which;
  TileStores stores;
  BandPart part;

  template <typename Set>
  static void run(const ShiftedRowsBand& band) {
    const ShiftedRows& plan = band.plan;
    if (band.part != BandPart::sums && plan.copied_columns() > 0) band.template copy<Set>();
    if (band.part == BandPart::copies) return;
    if (plan.in_place()) {
      band.template multiply_in_place<Set>();
      if (plan.copied_columns() > 0) band.template multiply_few_columns<Set>();
    } else {
      band.template multiply_copies<Set>();
    }
  }

 private:
  template <typename Set>
  static constexpr ShiftedTileFunctions<Set, Tile> kFunctions{};

  template <typename Set>
  [[gnu::always_inline]] void copy() const {
    const ConvShape& s = plan.shape_;
    const int top = which.first_row * s.stride - s.padding;
    plan.copy_.template copy<Set>(top, (which.rows - 1) * s.stride + s.kernel, input, copies);
  }

  int taps() const { return static_cast<int>(plan.tap_offsets_.size()); }
  std::span<const ShiftedRows::TileOfMaps> tiles_of_maps() const {
    return std::span(plan.tiles_of_maps_)
        .subspan(static_cast<std::size_t>(which.first_tile),
                 static_cast<std::size_t>(which.end_tile - which.first_tile));
  }
  /// The output of a tile's first map in the first row.
  float* first_output(const ShiftedRows::TileOfMaps& maps) const {
    return which.output + (maps.first_map - plan.first_map(which.first_tile)) * which.map_pitch;
  }
  /// The copy of the first row's inputs for a tile's first tap.
  const float* first_copy(const ShiftedRows::TileOfMaps& maps) const {
    return copies + maps.copies + std::ptrdiff_t{which.first_row - copied_from} * plan.copied_columns();
  }

  /// Computes all outputs of the band as one line.
  template <typename Set>
  [[gnu::always_inline]] void multiply_copies() const {
    const int outputs = which.rows * plan.shape_.out_width();
    for_tiles<Set>(outputs, [&](int first, int end) {
      ShiftedTileFunction whole[2] = {};  // for the larger and the smaller tiles of maps
      if (end <= outputs) find_functions<Set>((end - first) / Set::lanes, whole);
      for (const ShiftedRows::TileOfMaps& maps : tiles_of_maps()) {
        const float* const pixels = first_copy(maps) + first;
        float* const to = first_output(maps) + first;
        if (const ShiftedTileFunction function = whole[plan.most_maps() - maps.maps]; function != nullptr) {
          function(pixels, plan.weights_.data() + maps.weights, plan.tap_offsets_.data(), taps(), to, which.map_pitch);
        } else {
          multiply_part<Set>(maps, pixels, std::min(end, outputs) - first, to, which.map_pitch);
        }
      }
    });
  }

  /// Calls body(first, end) for whole vectors that cover the outputs, in parts of nearly the same number of vectors.
  //
  // The sizes of tiles of maps differ by one at most, so they have nearly the same number of vectors.
  template <typename Set, typename Body>
  [[gnu::always_inline]] void for_tiles(int outputs, const Body& body) const {
    const int vectors = (outputs + Set::lanes - 1) / Set::lanes;
    const int most_vectors = plan.division_.vectors;
    const int tiles = (vectors + most_vectors - 1) / most_vectors;
    for (int tile = 0; tile < tiles; ++tile) {
      body(static_cast<int>(std::int64_t{vectors} * tile / tiles) * Set::lanes,
           static_cast<int>(std::int64_t{vectors} * (tile + 1) / tiles) * Set::lanes);
    }
  }

  /// Computes the columns whose inputs are read where they lie, row by row.
  template <typename Set>
  [[gnu::always_inline]] void multiply_in_place() const {
    const ConvShape& s = plan.shape_;
    ShiftedTileFunction whole[2];
    find_functions<Set>(plan.division_.vectors, whole);
    for (int row = 0; row < which.rows; ++row) {
      const float* const pixels = input + std::int64_t{which.first_row + row} * s.width;
      const std::ptrdiff_t to = std::ptrdiff_t{row} * s.out_width();
      for (int first = 0; first < plan.division_.columns_in_place; first += plan.division_.vectors * Set::lanes) {
        for (const ShiftedRows::TileOfMaps& maps : tiles_of_maps()) {
          whole[plan.most_maps() - maps.maps](pixels + maps.input + first, plan.weights_.data() + maps.weights,
                                              plan.input_offsets_.data(), taps(), first_output(maps) + to + first,
                                              which.map_pitch);
        }
      }
    }
  }

  /// Computes the copied columns of all rows as one line, which is then cut into the parts of the rows.
  template <typename Set>
  [[gnu::always_inline]] void multiply_few_columns() const {
    const int outputs = which.rows * plan.copied_columns();
    const int pitch = (outputs + Set::lanes - 1) / Set::lanes * Set::lanes;
    float* const sums = copies + plan.floats_of_copies();
    for (const ShiftedRows::TileOfMaps& maps : tiles_of_maps()) {
      for_tiles<Set>(outputs, [&](int first, int end) {
        multiply_part<Set>(maps, first_copy(maps) + first, end - first, sums + first, pitch);
      });
      float* const to = first_output(maps) + plan.division_.columns_in_place;
      const std::ptrdiff_t row_pitch = plan.shape_.out_width();
      for (int m = 0; m < maps.maps; ++m) {
        const float* const of_map = sums + std::ptrdiff_t{m} * pitch;
        with_constant<ShiftedCopy::most_few_columns(Set::lanes)>(plan.copied_columns(), [&](auto columns) {
          copy_columns<columns>(of_map, columns, which.rows, to + m * which.map_pitch, row_pitch);
        });
      }
    }
  }

  /// The functions for tiles with a given number of vectors, for the larger and the smaller tiles of maps.
  template <typename Set>
  [[gnu::always_inline]] void find_functions(int vectors, ShiftedTileFunction (&whole)[2]) const {
    for (int less = 0; less < 2; ++less) {
      whole[less] = kFunctions<Set>.at(std::max(1, plan.most_maps() - less), vectors, stores);
    }
  }

  /// Computes `count` outputs of one tile of maps where no code exists for tiles of that many vectors, or the last
  /// vector is not whole. `pitch` is the number of floats from map to map in `to`.
  template <typename Set>
  void multiply_part(const ShiftedRows::TileOfMaps& maps, const float* pixels, int count, float* to,
                     std::ptrdiff_t pitch) const {
    const ShiftedTileFunctions<Set, Tile>& functions = kFunctions<Set>;
    const int vectors = (count + Set::lanes - 1) / Set::lanes;
    const int at_once = functions.at(maps.maps, vectors, TileStores::plain) != nullptr ? vectors : 1;
    const int width = at_once * Set::lanes;
    alignas(64) float sums[Set::maps * 2 * Set::vectors * Set::lanes];
    for (int first = 0; first < count; first += width) {
      const bool is_whole = first + width <= count;
      functions.at(maps.maps, at_once, TileStores::plain)(pixels + first, plan.weights_.data() + maps.weights,
                                                          plan.tap_offsets_.data(), taps(),
                                                          is_whole ? to + first : sums, is_whole ? pitch : width);
      if (is_whole) continue;
      for (int m = 0; m < maps.maps; ++m) std::copy_n(sums + m * width, count - first, to + m * pitch + first);
    }
  }
};

template <template <int, int, TileStores> class Tile>
void ShiftedRows::convolve_with(float* copies, const float* input, float* output, int band, TileStores stores,
                                BandPart part) const {
  const int first_row = band * division_.rows;
  const int rows = std::min(division_.rows, shape_.out_height() - first_row);
  const RowsOfMaps all{first_row,  rows, 0, map_tiles(), output + std::ptrdiff_t{first_row} * shape_.out_width(),
                       map_pixels_};
  run_with<ShiftedRowsBand<Tile>>(division_.set.kind,
                                  ShiftedRowsBand<Tile>{*this, copies, first_row, input, all, stores, part});
}

/// Instantiated in shifted_rows.cpp, for all other callers.
extern template void ShiftedRows::convolve_with<ShiftedRowsTile>(float*, const float*, float*, int, TileStores,
                                                                 BandPart) const;

}  // namespace convladder
