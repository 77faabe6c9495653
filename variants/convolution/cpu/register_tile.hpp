// The inner loop of the stages from 07 on: a tile of output maps x pixels whose sums stay in vector registers.
//
// Every pixel vector that is loaded serves all maps of the tile, every weight all its pixels: `maps + vectors` loads
// for `maps * vectors` multiply-adds, where one pixel vector for each of them was loaded before.
#pragma once

#include <algorithm>
#include <type_traits>

#include "variants/convolution/conv_shape.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// How the output maps of a group are cut into tiles of nearly equal numbers of maps, `most` at most: 50 maps by 8 are
/// one tile of 8 and six of 7, and not six of 8 and one of 2.
class MapTiles {
 public:
  MapTiles(int maps_of_group, int most) {
    const int count = (maps_of_group + most - 1) / most;
    for (int tile = 0; tile <= count; ++tile) {
      first_.push_back(static_cast<int>(std::int64_t{maps_of_group} * tile / count));
    }
  }
  int maps() const { return first_.back(); }
  int count() const { return static_cast<int>(first_.size()) - 1; }
  int first(int tile) const { return first_[static_cast<std::size_t>(tile)]; }
  int size(int tile) const { return first(tile + 1) - first(tile); }

 private:
  std::vector<int> first_;
};

/// Weights in the order in which the inner loop reads them: for each group and tile of maps, tap by tap (c, p, q) the
/// weights of the tile's maps side by side. The offset of a map is the same as in OIHW: tile t of group g begins at
/// (g * maps_per_group + first(t)) * taps.
inline AlignedFloats pack_weights(const ConvShape& s, const MapTiles& tiles, const float* weights) {
  AlignedFloats packed(s.weight_elements());
  const std::int64_t taps = std::int64_t{s.channels_per_group()} * s.kernel * s.kernel;
  float* to = packed.data();
  for (int g = 0; g < s.groups; ++g) {
    for (int tile = 0; tile < tiles.count(); ++tile) {
      const float* const filters = weights + (std::int64_t{g} * tiles.maps() + tiles.first(tile)) * taps;
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        for (int m = 0; m < tiles.size(tile); ++m) *to++ = filters[m * taps + tap];
      }
    }
  }
  return packed;
}

/// The sums of `kMaps` maps x `kVectors` vectors of neighbouring pixels.
template <typename Set, int kMaps, int kVectors>
struct RegisterTile {
  Vector<Set> sums[kMaps][kVectors];

  [[gnu::always_inline]] void clear() {
#pragma GCC unroll 8
    for (int m = 0; m < kMaps; ++m) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[m][v] = Vector<Set>{};
    }
  }

  /// Continues sums that `store` has written, map by map at a distance of `pitch`.
  [[gnu::always_inline]] void load(const float* from, std::ptrdiff_t pitch) {
#pragma GCC unroll 8
    for (int m = 0; m < kMaps; ++m) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) load_vector(sums[m][v], from + m * pitch + v * Set::lanes);
    }
  }

  /// Adds `taps` taps. pixels(t) points at the inputs of tap t; its weights are weights[t * kMaps ...].
  template <typename Pixels>
  [[gnu::always_inline]] void add(int taps, const float* weights, const Pixels& pixels) {
    add_each(taps, weights, [&](int tap, int v) { return pixels(tap) + v * Set::lanes; });
  }

  /// The same with a pointer pixels(t, v) for each vector.
  template <typename Pixels>
  [[gnu::always_inline]] void add_each(int taps, const float* weights, const Pixels& pixels) {
    for (int tap = 0; tap < taps; ++tap) {
      Vector<Set> x[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) load_vector(x[v], pixels(tap, v));
#pragma GCC unroll 8
      for (int m = 0; m < kMaps; ++m) {
        const float weight = weights[m];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) sums[m][v] += x[v] * weight;
      }
      weights += kMaps;
    }
  }

  /// Writes the first `count` pixels of each map: the last vector may have fewer than its lanes.
  [[gnu::always_inline]] void store(float* to, std::ptrdiff_t pitch, int count) const {
    constexpr int kPixels = kVectors * Set::lanes;
    if (count == kPixels) return store(to, pitch);
    alignas(64) float values[kMaps * kPixels];  // all sums, so that none has to outlive the calls below in a register
    store(values, kPixels);
    for (int m = 0; m < kMaps; ++m) std::copy_n(values + m * kPixels, count, to + m * pitch);
  }

  /// Writes all lanes past the caches; `to` and `pitch` are such that each vector is a part of one cache line.
  [[gnu::always_inline]] void stream(float* to, std::ptrdiff_t pitch) const {
#pragma GCC unroll 8
    for (int m = 0; m < kMaps; ++m) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) stream_vector(to + m * pitch + v * Set::lanes, sums[m][v]);
    }
  }

  /// Writes all lanes.
  [[gnu::always_inline]] void store(float* to, std::ptrdiff_t pitch) const {
#pragma GCC unroll 8
    for (int m = 0; m < kMaps; ++m) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) store_vector(to + m * pitch + v * Set::lanes, sums[m][v]);
    }
  }
};

/// Calls body(maps, vectors) with both as constants: one copy of the body for each size of tile.
template <typename Set, typename Body>
[[gnu::always_inline]] inline void with_tile_size(int maps, int vectors, const Body& body) {
  with_constant<Set::maps>(maps, [&](auto maps_constant) {
    with_constant<Set::vectors>(vectors, [&](auto vectors_constant) { body(maps_constant, vectors_constant); });
  });
}

}  // namespace convladder
