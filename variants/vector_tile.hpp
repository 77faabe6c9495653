// The inner loop of products of matrices on the CPU: a tile of rows x columns whose sums stay in vector registers. In a
// convolution the rows are output maps and the columns are pixels.
//
// Every vector of pixels that is loaded serves all maps of the tile, every weight all its pixels: `maps + vectors`
// loads for `maps * vectors` multiply-adds, instead of at least one for each.
#pragma once

#include <algorithm>
#include <cstddef>

#include "variants/vector_lanes.hpp"

namespace convladder {

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

  /// Loads sums that `store` has written, map by map at a distance of `pitch`, to continue them.
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

  /// Adds `taps` taps, with a pointer pixels(t, v) for each vector.
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

  /// Writes the first `count` pixels of each map: the last vector may not be full.
  [[gnu::always_inline]] void store(float* to, std::ptrdiff_t pitch, int count) const {
    constexpr int kPixels = kVectors * Set::lanes;
    if (count == kPixels) return store(to, pitch);
    alignas(64) float values[kMaps * kPixels];  // all sums, so that none has to outlive the calls below in a register
    store(values, kPixels);
    for (int m = 0; m < kMaps; ++m) std::copy_n(values + m * kPixels, count, to + m * pitch);
  }

  /// Writes all lanes past the caches; `to` and `pitch` must be such that each vector lies within one cache line.
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

}  // namespace convladder
