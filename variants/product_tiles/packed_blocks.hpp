// Copies of A and B in the order in which the register tile reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "register_tile.hpp"

namespace register_tile {

/// Memory that grows but never shrinks and is kept for the next call: fresh pages cost more than a small product. Not
/// initialised.
class Buffer {
 public:
  float* at_least(std::size_t count) {
    if (count > count_) {
      constexpr std::size_t kAlignment = 4096;
      const std::size_t bytes = (count * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
      data_.reset();
      data_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, bytes)));
      if (!data_) throw std::bad_alloc();
      count_ = count;
    }
    return data_.get();
  }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> data_;
  std::size_t count_ = 0;
};

/// Lane j of the result comes from `a` where j does not have the bit `step`, otherwise from `b`, from the lane with or
/// without that bit as `upper` says.
template <std::size_t step, bool upper, std::size_t... lane>
inline Vector exchange(Vector a, Vector b, std::index_sequence<lane...> /*all*/) {
  return __builtin_shufflevector(
      a, b, ((lane & step) == 0 ? (upper ? lane + step : lane) : kLanes + (upper ? lane : lane - step))...);
}

/// Turns kLanes rows of kLanes elements into columns: each step exchanges blocks twice as large beside the diagonal.
template <std::size_t step = 1>
[[gnu::always_inline]] inline void transpose(Vector (&rows)[kLanes]) {
  if constexpr (step < kLanes) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kLanes; ++i) {
      if ((i & step) != 0) continue;
      const Vector low = rows[i];
      const Vector high = rows[i + step];
      rows[i] = exchange<step, false>(low, high, std::make_index_sequence<kLanes>());
      rows[i + step] = exchange<step, true>(low, high, std::make_index_sequence<kLanes>());
    }
    transpose<step * 2>(rows);
  }
}

/// Packs a strip of A, `rows` (at most kRows) rows x depth, as depth x rows. Element (i, k) stands at a[i * pitch + k].
inline void pack_rows(const float* a, std::size_t pitch, int rows, int depth, float* to) {
  int k = 0;
  if constexpr (kRows <= kLanes) {
    // Whole vectors are stored; their surplus lanes are overwritten by the next one, so the last ones go one by one.
    for (; rows == kRows && k + 2 * kLanes <= depth; k += kLanes) {
      Vector block[kLanes] = {};
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) block[i] = load(a + i * pitch + k);
      transpose(block);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(to + (k + i) * kRows, block[i]);
    }
  }
  for (; k < depth; ++k) {
    for (int i = 0; i < rows; ++i) to[k * rows + i] = a[i * pitch + k];
  }
}

/// Packs a strip of B, depth x `columns` (at most kColumns) columns, as depth x kColumns padded with zeros.
inline void pack_columns(const float* b, std::size_t pitch, int columns, int depth, float* to) {
  for (int k = 0; k < depth; ++k) {
    const float* const row = b + k * pitch;
    if (columns == kColumns) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) store(to + v * kLanes, load(row + v * kLanes));
    } else {
      std::fill(std::copy_n(row, columns, to), to + kColumns, 0.0F);
    }
    to += kColumns;
  }
}

/// Multiplies one tile of packed strips.
inline void multiply_packed(const float* a, const float* b, int rows, int depth, const Target& c) {
  with_rows(rows, [&]<int known_rows>() {
    multiply<known_rows>(Left{a, 1, known_rows}, Right{b, kColumns}, depth, c);
  });
}

}  // namespace register_tile
