// The code of a band of `ShiftedRows`, for any code of its register tiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "variants/convolution/cpu/register_tile.hpp"
#include "variants/convolution/cpu/shifted_copy.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"

namespace convladder {

/// Vectors of a register tile of `maps` maps: with few maps more of them, so that there are sums enough to hide an
/// addition's latency, and as many multiply-adds for each load. Registers hold the tile's pixels too, a weight and a
/// product.
template <typename Set>
constexpr int shifted_tile_vectors(int maps) {
  return std::clamp((Set::registers - 2) / (maps + 1), 1, 2 * Set::vectors);
}

/// Computes the outputs of some maps and vectors of pixels. `pixels`: the copies, or the input, at the first output;
/// `offsets`: those of the taps in them; `pitch`: floats between two maps in `to`.
//
// Parameters that fit into registers, and a function without a frame: a core holds a few dozen stores that are on their
// way, and those of the outputs before are among them.
using ShiftedTileFunction = void (*)(const float* pixels, const float* weights, const int* offsets, int taps, float* to,
                                     std::ptrdiff_t pitch);

template <int kMaps, int kVectors, bool kPastCaches>
struct ShiftedRowsTile {
  template <typename Set>
  static void run(const float* pixels, const float* weights, const int* offsets, int taps, float* to,
                  std::ptrdiff_t pitch) {
    RegisterTile<Set, kMaps, kVectors> sums;
    sums.clear();
    sums.add(taps, weights, [&](int tap) { return pixels + offsets[tap]; });
    if constexpr (kPastCaches) {
      sums.stream(to, pitch);
    } else {
      sums.store(to, pitch);
    }
  }
};

/// `Tile`'s code for tiles of so many maps: of the widest tile, or of the one that a layer with tiles of a map more
/// has, of one vector less, and of one vector; none for other numbers of vectors.
template <typename Set, template <int, int, bool> class Tile>
class ShiftedTileFunctions {
 public:
  constexpr ShiftedTileFunctions() { add_maps<Set::maps>(); }
  ShiftedTileFunction at(int maps, int vectors, bool past_caches) const { return of_[past_caches][maps][vectors]; }

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
    of_[false][kMaps][kVectors] = function<Tile<kMaps, kVectors, false>>();
    of_[true][kMaps][kVectors] = function<Tile<kMaps, kVectors, true>>();
  }

  template <typename Body>
  static constexpr ShiftedTileFunction function() {
    return compiled_for<Set, Body, const float*, const float*, const int*, int, float*, std::ptrdiff_t>();
  }

  ShiftedTileFunction of_[2][Set::maps + 1][2 * Set::vectors + 1] = {};
};

/// One band, as the code for an instruction set sees it. Without an input the copies are there already; without an
/// output they are all that is made.
template <template <int, int, bool> class Tile>
struct ShiftedRowsBand {
  const ShiftedRows& plan;
  float* copies;
  const float* input;
  float* output;
  int first_row;
  int rows;
  bool past_caches;

  template <typename Set>
  static void run(const ShiftedRowsBand& band) {
    const ShiftedRows& plan = band.plan;
    const int outputs = band.rows * plan.shape_.out_width();
    if (band.input != nullptr && !plan.in_place()) band.template copy<Set>();
    if (band.output == nullptr) return;
    const int vectors = (outputs + Set::lanes - 1) / Set::lanes;
    // Tiles of maps have sizes that differ by one at most, and with it nearly the same number of vectors.
    const int most_vectors = plan.division_.vectors;
    const int tiles = (vectors + most_vectors - 1) / most_vectors;
    for (int tile = 0; tile < tiles; ++tile) {
      const int first = static_cast<int>(std::int64_t{vectors} * tile / tiles);
      const int end = static_cast<int>(std::int64_t{vectors} * (tile + 1) / tiles);
      band.template multiply<Set>(first * Set::lanes, end - first, outputs);
    }
  }

 private:
  template <typename Set>
  static constexpr ShiftedTileFunctions<Set, Tile> kFunctions{};

  template <typename Set>
  [[gnu::always_inline]] void copy() const {
    const ConvShape& s = plan.shape_;
    const int top = first_row * s.stride - s.padding;
    const int count = (rows - 1) * s.stride + s.kernel;
    for (int row = 0; row < count; ++row) plan.copy_.template copy_row<Set>(top + row, row, input, copies);
  }

  /// The inputs of the outputs from `first` on under the first tap; in place they are those of one row.
  const float* pixels_at(int first) const {
    if (!plan.in_place()) return copies + first;
    const int row = first / plan.shape_.out_width();
    return input + std::int64_t{first_row + row} * plan.shape_.width + (first - row * plan.shape_.out_width());
  }

  /// Of the first map.
  float* output_at(int first) const { return output + std::int64_t{first_row} * plan.shape_.out_width() + first; }

  /// `vectors` vectors of all maps from the output `first` on.
  template <typename Set>
  [[gnu::always_inline]] void multiply(int first, int vectors, int outputs) const {
    const auto taps = static_cast<int>(plan.tap_offsets_.size());
    const int* const offsets = plan.tap_offsets_.data();
    const float* const weights = plan.weights_.data();
    const float* const pixels = pixels_at(first);
    float* const to = output_at(first);
    const int most_maps = plan.most_maps();
    ShiftedTileFunction whole[2] = {};  // for the larger and the smaller tiles of maps
    for (int less = 0; less < 2 && first + vectors * Set::lanes <= outputs; ++less) {
      whole[less] = kFunctions<Set>.at(std::max(1, most_maps - less), vectors, past_caches);
    }
    for (const ShiftedRows::TileOfMaps& tile : plan.tiles_of_maps_) {
      if (const ShiftedTileFunction function = whole[most_maps - tile.maps]; function != nullptr) {
        function(pixels + tile.copies, weights + tile.weights, offsets, taps, to + tile.output, plan.map_pixels_);
      } else {
        multiply_part<Set>(tile, first, vectors, outputs);
      }
    }
  }

  /// The same for one tile of maps, if there is no code for a tile of so many vectors, or the last one is not whole.
  template <typename Set>
  void multiply_part(const ShiftedRows::TileOfMaps& tile, int first, int vectors, int outputs) const {
    const ShiftedTileFunctions<Set, Tile>& functions = kFunctions<Set>;
    const int at_once = functions.at(tile.maps, vectors, false) != nullptr ? vectors : 1;
    const int width = at_once * Set::lanes;
    alignas(64) float sums[Set::maps * 2 * Set::vectors * Set::lanes];
    for (const int end = first + vectors * Set::lanes; first < end; first += width) {
      functions.at(tile.maps, at_once, false)(pixels_at(first) + tile.copies, plan.weights_.data() + tile.weights,
                                              plan.tap_offsets_.data(), static_cast<int>(plan.tap_offsets_.size()),
                                              sums, width);
      const int count = std::min(outputs - first, width);
      for (int m = 0; m < tile.maps; ++m) {
        std::copy_n(sums + m * width, count, output_at(first) + tile.output + m * plan.map_pixels_);
      }
    }
  }
};

template <template <int, int, bool> class Tile>
void ShiftedRows::convolve_with(float* copies, const float* input, float* output, int band, bool past_caches) const {
  const int first_row = band * division_.rows;
  const int rows = std::min(division_.rows, shape_.out_height() - first_row);
  run_with<ShiftedRowsBand<Tile>>(division_.set.kind,
                                  ShiftedRowsBand<Tile>{*this, copies, input, output, first_row, rows, past_caches});
}

}  // namespace convladder
