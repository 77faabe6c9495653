// Computes a block of queries against all keys with register tiles. The upper CUDA stages share it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace query_tile {

struct Problem {
  const float* q;
  const float* k;
  const float* v;
  float* out;
  float scale;
  int S;
  int D;
};

/// Whether all rows begin at multiples of 16 bytes.
inline bool has_vectors(const Problem& p) {
  const auto is_aligned = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
  return p.D % 4 == 0 && is_aligned(p.q) && is_aligned(p.k) && is_aligned(p.v) && is_aligned(p.out);
}

/// Four elements of row `i` of an S x D matrix from column `d` on; zeros outside the matrix.
template <bool vectors>
__device__ inline float4 load_four(const float* rows, const Problem& p, int i, int d) {
  float4 value = {0.0F, 0.0F, 0.0F, 0.0F};
  if (i >= p.S || d >= p.D) return value;
  const float* const from = rows + static_cast<std::size_t>(i) * p.D + d;
  if constexpr (vectors) {
    value = *reinterpret_cast<const float4*>(from);
  } else {
    value.x = from[0];
    if (d + 1 < p.D) value.y = from[1];
    if (d + 2 < p.D) value.z = from[2];
    if (d + 3 < p.D) value.w = from[3];
  }
  return value;
}

template <bool vectors>
__device__ inline void store_four(float* rows, const Problem& p, int i, int d, const float* values, float factor) {
  if (i >= p.S || d >= p.D) return;
  float* const to = rows + static_cast<std::size_t>(i) * p.D + d;
  if constexpr (vectors) {
    *reinterpret_cast<float4*>(to) =
        make_float4(values[0] * factor, values[1] * factor, values[2] * factor, values[3] * factor);
  } else {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      if (d + n < p.D) to[n] = values[n] * factor;
    }
  }
}

/// Copies `count` rows from `first` on, transposed: to[d * pitch + row]. The threads of a warp have different rows, so
/// that the values that they store lie side by side.
template <int count, int width, int threads, bool vectors>
__device__ inline void copy_turned(float* to, int pitch, const float* rows, const Problem& p, int first, float factor) {
#pragma unroll 4
  for (int n = static_cast<int>(threadIdx.x); n < count * width / 4; n += threads) {
    const int row = n % count;
    const int d = n / count * 4;
    const float4 value = load_four<vectors>(rows, p, first + row, d);
    to[d * pitch + row] = value.x * factor;
    to[(d + 1) * pitch + row] = value.y * factor;
    to[(d + 2) * pitch + row] = value.z * factor;
    to[(d + 3) * pitch + row] = value.w * factor;
  }
}

template <int count, int width, int threads, bool vectors>
__device__ inline void copy_rows(float* to, const float* rows, const Problem& p, int first) {
#pragma unroll 4
  for (int n = static_cast<int>(threadIdx.x); n < count * width / 4; n += threads) {
    const float4 value = load_four<vectors>(rows, p, first + n / (width / 4), n % (width / 4) * 4);
    reinterpret_cast<float4*>(to)[n] = value;
  }
}

__device__ inline void load_vector(float (&to)[4], const float* from) {
  const float4 value = *reinterpret_cast<const float4*>(from);
  to[0] = value.x;
  to[1] = value.y;
  to[2] = value.z;
  to[3] = value.w;
}

constexpr int queries = 64;  // queries of a block
constexpr int keys = 32;     // keys of a tile
constexpr int threads = 128;
constexpr int sharers = 8;  // threads that share a query
constexpr int query_pitch = queries + 4;
constexpr int key_pitch = keys + 4;

/// A block's shared memory. Keys and values of a tile take turns in it.
template <int width>
struct Shared {
  float q[width * query_pitch];  ///< transposed and multiplied by the scale
  union {
    float k[width * key_pitch];  ///< transposed
    float v[keys * width];
  };
  float weights[keys * query_pitch];
};

/// A thread's sums for four queries: 4 of each 32 columns, and the sum of the weights of its own keys, both relative to
/// the largest score so far, which all eight threads of a query know.
template <int columns>
struct QueryTile {
  static constexpr int width = columns * 32;

  float largest[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  float totals[4] = {};
  float sums[4][columns][4] = {};

  /// Adds the keys from `first_key` to before `last_key` of a head; `query` is the first of the thread's four in the
  /// block. The block's queries are in shared memory or about to be: a barrier comes before they are read.
  template <bool vectors>
  __device__ void add_keys(Shared<width>& shared, const Problem& p, const float* k, const float* v, int query,
                           int member, int first_key, int last_key) {
    for (int first = first_key; first < last_key; first += keys) {
      __syncthreads();  // everyone is done with the previous values
      copy_turned<keys, width, threads, vectors>(shared.k, key_pitch, k, p, first, 1.0F);
      __syncthreads();  // queries and keys are complete
      float scores[4][4] = {};
#pragma unroll 8
      for (int d = 0; d < width; ++d) {
        float of_queries[4];
        float of_keys[4];
        load_vector(of_queries, shared.q + d * query_pitch + query);
        load_vector(of_keys, shared.k + d * key_pitch + member * 4);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) scores[i][j] += of_queries[i] * of_keys[j];
        }
      }
      __syncthreads();  // everyone is done with the keys
      copy_rows<keys, width, threads, vectors>(shared.v, v, p, first);

#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float tile_largest = largest[i];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (first + member * 4 + j >= last_key) scores[i][j] = -INFINITY;
          tile_largest = fmaxf(tile_largest, scores[i][j]);
        }
#pragma unroll
        for (int step = sharers / 2; step > 0; step /= 2) {
          tile_largest = fmaxf(tile_largest, __shfl_xor_sync(0xFFFFFFFF, tile_largest, step));
        }
        const float factor = expf(largest[i] - tile_largest);
        largest[i] = tile_largest;
        totals[i] *= factor;
#pragma unroll
        for (int n = 0; n < columns; ++n) {
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[i][n][j] *= factor;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float weight = expf(scores[i][j] - tile_largest);
          totals[i] += weight;  // of this thread's keys
          scores[i][j] = weight;
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        *reinterpret_cast<float4*>(shared.weights + (member * 4 + j) * query_pitch + query) =
            make_float4(scores[0][j], scores[1][j], scores[2][j], scores[3][j]);
      }
      __syncthreads();  // weights and values are complete
#pragma unroll 8
      for (int key = 0; key < keys; ++key) {
        float weights[4];
        load_vector(weights, shared.weights + key * query_pitch + query);
#pragma unroll
        for (int n = 0; n < columns; ++n) {
          float values[4];
          load_vector(values, shared.v + key * width + n * 32 + member * 4);
#pragma unroll
          for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) sums[i][n][j] += weights[i] * values[j];
          }
        }
      }
    }
    // The eight threads of a query add up their sums of the weights.
#pragma unroll
    for (float& total : totals) {
#pragma unroll
      for (int step = sharers / 2; step > 0; step /= 2) total += __shfl_xor_sync(0xFFFFFFFF, total, step);
    }
  }
};

}  // namespace query_tile
