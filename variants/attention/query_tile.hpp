// Computes a tile of queries against all keys, with the softmax built up as the keys come. The upper CPU stages share
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "packed_blocks.hpp"
#include "weights.hpp"

namespace attention {

using register_tile::kColumns;
using register_tile::kRows;

constexpr int kMostWidth = 128;  // columns of a head
constexpr int kBlockKeys = 256;  // keys of a block; their scores for kRows queries take 14 KiB
constexpr int kMostPadded = (kMostWidth + kColumns - 1) / kColumns * kColumns;

/// Keys and values of a head in the order in which the register tile reads them. Keys: strips of kColumns keys, each
/// D x kColumns. Values: strips of kColumns columns, each S x kColumns. Both are padded with zeros.
struct Head {
  float* keys;
  float* values;
};

constexpr std::size_t key_floats(int S, int D) { return static_cast<std::size_t>(rounded_up(S, kColumns)) * D; }
constexpr std::size_t value_floats(int S, int D) { return static_cast<std::size_t>(S) * rounded_up(D, kColumns); }

/// Packs the strip of keys that begins with key `first`.
inline void pack_keys(const float* k, const Head& head, int first, int S, int D) {
  float* const to = head.keys + static_cast<std::size_t>(first) * D;
  const float* const from = k + static_cast<std::size_t>(first) * D;
  const int keys = std::min(kColumns, S - first);
  int d = 0;
  for (; keys == kColumns && d + kLanes <= D; d += kLanes) {
    for (int j = 0; j < kColumns; j += kLanes) {
      Vector block[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) block[i] = register_tile::load(from + (j + i) * D + d);
      register_tile::transpose(block);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) register_tile::store(to + (d + i) * kColumns + j, block[i]);
    }
  }
  for (; d < D; ++d) {
    for (int j = 0; j < kColumns; ++j) to[d * kColumns + j] = j < keys ? from[j * D + d] : 0.0F;
  }
}

/// Packs the strip of values that begins with column `first`.
inline void pack_values(const float* v, const Head& head, int first, int S, int D) {
  register_tile::pack_columns(v + first, static_cast<std::size_t>(D), std::min(kColumns, D - first), S,
                              head.values + static_cast<std::size_t>(first) * S);
}

/// Computes `rows` (at most kRows) queries from `q` on into as many rows of `out`.
template <int rows>
void attend(const float* q, const Head& head, float* out, float scale, int S, int D) {
  float scores[rows * kBlockKeys];
  float sums[rows * kMostPadded];
  float largest[rows];
  float totals[rows] = {};
  std::fill_n(largest, rows, -std::numeric_limits<float>::infinity());
  const int padded_width = rounded_up(D, kColumns);
  const register_tile::Left queries{q, static_cast<std::size_t>(D), 1};

  for (int first = 0; first < S; first += kBlockKeys) {
    const int keys = std::min(kBlockKeys, S - first);
    for (int j = 0; j < keys; j += kColumns) {
      const register_tile::Right strip{head.keys + static_cast<std::size_t>(first + j) * D, kColumns};
      register_tile::multiply<rows>(queries, strip, D, {scores + j, kBlockKeys, kColumns, true});
    }
    for (int i = 0; i < rows; ++i) {
      float* const row = scores + i * kBlockKeys;
      const float before = largest[i];
      largest[i] = scale_scores(row, keys, scale, before);
      // Sums that are relative to the previous largest score are now too large by this factor.
      const float factor = exponential(Vector{} + (before - largest[i]))[0];
      totals[i] = totals[i] * factor + scores_to_weights(row, keys, largest[i]);
      if (first == 0) continue;
      for (int d = 0; d < padded_width; ++d) sums[i * kMostPadded + d] *= factor;
    }
    for (int d = 0; d < D; d += kColumns) {
      const register_tile::Right strip{head.values + static_cast<std::size_t>(d) * S + first * kColumns, kColumns};
      register_tile::multiply<rows>({scores, kBlockKeys, 1}, strip, keys,
                                    {sums + d, kMostPadded, kColumns, first == 0});
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int d = 0; d < D; ++d) out[static_cast<std::size_t>(i) * D + d] = sums[i * kMostPadded + d] / totals[i];
  }
}

}  // namespace attention
