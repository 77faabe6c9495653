// Copies tiles of A and B four floats at a time, and stores a thread's 8 x 8 sums. The upper CUDA stages share it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vector_tiles {

/// Where a block's tile lies. With `vectors`, rows of A, B and C begin at multiples of 16 bytes.
struct Problem {
  const float* a;
  const float* b;
  float* c;
  int M;
  int N;
  int K;
};

inline bool has_vectors(const Problem& p) {
  const auto is_aligned = [](const float* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
  return p.K % 4 == 0 && p.N % 4 == 0 && is_aligned(p.a) && is_aligned(p.b) && is_aligned(p.c);
}

/// Four neighbouring elements of row `i` of a rows x columns matrix from column `j` on; zeros outside the matrix.
template <bool vectors>
__device__ inline float4 load_four(const float* matrix, int rows, int columns, int i, int j) {
  float4 value = {0.0F, 0.0F, 0.0F, 0.0F};
  if (i >= rows || j >= columns) return value;
  const float* const from = matrix + static_cast<std::size_t>(i) * columns + j;
  if constexpr (vectors) {
    value = *reinterpret_cast<const float4*>(from);
  } else {
    value.x = from[0];
    if (j + 1 < columns) value.y = from[1];
    if (j + 2 < columns) value.z = from[2];
    if (j + 3 < columns) value.w = from[3];
  }
  return value;
}

template <bool vectors>
__device__ inline void store_four(const Problem& p, int i, int j, const float* values) {
  if (i >= p.M || j >= p.N) return;
  float* const to = p.c + static_cast<std::size_t>(i) * p.N + j;
  if constexpr (vectors) {
    *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
  } else {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      if (j + n < p.N) to[n] = values[n];
    }
  }
}

/// A step of a block: `depth` columns of TILE rows of A, `depth` rows of TILE columns of B. `fetch` loads it from
/// global memory into registers, `put` stores it from there in shared memory, with A transposed.
template <int tile, int depth, int threads, bool vectors>
struct Step {
  static constexpr int pitch = tile + 4;  // of A: the 16 rows that a warp stores at once and two depths are 32 banks
  static constexpr int quads = tile * depth / 4 / threads;  // vectors of A and of B for each thread
  static_assert(quads * threads * 4 == tile * depth, "all threads copy as much");
  using A = float[depth][pitch];
  using B = float[depth][tile];

  float4 a_quads[quads];
  float4 b_quads[quads];

  __device__ void fetch(const Problem& p, int thread, int first_row, int first_column, int k0) {
#pragma unroll
    for (int n = 0; n < quads; ++n) {
      const int a_place = n * threads + thread;
      a_quads[n] = load_four<vectors>(p.a, p.M, p.K, first_row + a_place / (depth / 4), k0 + a_place % (depth / 4) * 4);
      const int b_place = n * threads + thread;
      b_quads[n] =
          load_four<vectors>(p.b, p.K, p.N, k0 + b_place / (tile / 4), first_column + b_place % (tile / 4) * 4);
    }
  }

  __device__ void put(A& a_tile, B& b_tile, int thread) const {
#pragma unroll
    for (int n = 0; n < quads; ++n) {
      const int place = n * threads + thread;
      const int i = place / (depth / 4);
      const int k = place % (depth / 4) * 4;
      a_tile[k][i] = a_quads[n].x;
      a_tile[k + 1][i] = a_quads[n].y;
      a_tile[k + 2][i] = a_quads[n].z;
      a_tile[k + 3][i] = a_quads[n].w;
      *reinterpret_cast<float4*>(&b_tile[place / (tile / 4)][place % (tile / 4) * 4]) = b_quads[n];
    }
  }
};

/// A thread's 8 x 8 sums: two runs of four rows, `row_step` apart, by two runs of four columns, `column_step` apart.
template <int row_step, int column_step>
struct Sums {
  float sums[8][8] = {};

  /// Adds the products of one depth, from the tiles' rows at the thread's first row and column.
  __device__ void add(const float* a_row, const float* b_row) {
    float a_values[8];
    float b_values[8];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      *reinterpret_cast<float4*>(a_values + half * 4) = *reinterpret_cast<const float4*>(a_row + half * row_step);
      *reinterpret_cast<float4*>(b_values + half * 4) = *reinterpret_cast<const float4*>(b_row + half * column_step);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sums[i][j] += a_values[i] * b_values[j];
    }
  }

  template <bool vectors>
  __device__ void store(const Problem& p, int row, int column) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        store_four<vectors>(p, row + i / 4 * row_step + i % 4, column + half * column_step, sums[i] + half * 4);
      }
    }
  }
};

/// A block's walk along the depth with two pairs of tiles: the next step is on its way while this one is multiplied.
template <int tile, int depth, int threads, bool vectors>
struct DoubleBuffer {
  using Tiles = Step<tile, depth, threads, vectors>;
  static constexpr int across = tile / 8;  // threads in a row of the tile
  static_assert(threads == across * across, "a thread has 8 x 8 outputs");

  typename Tiles::A a_tiles[2];
  typename Tiles::B b_tiles[2];

  /// Adds the steps from `first` (a multiple of the depth) to before `last`.
  __device__ void add(const Problem& p, int first_row, int first_column, int first, int last,
                      Sums<tile / 2, tile / 2>& sums) {
    const int thread = static_cast<int>(threadIdx.x);
    const int row = thread / across * 4;
    const int column = thread % across * 4;
    Tiles next;
    next.fetch(p, thread, first_row, first_column, first);
    next.put(a_tiles[0], b_tiles[0], thread);
    __syncthreads();  // the first tiles are complete
    int now = 0;
    for (int k0 = first; k0 < last; k0 += depth) {
      const bool has_next = k0 + depth < last;
      if (has_next) next.fetch(p, thread, first_row, first_column, k0 + depth);
#pragma unroll
      for (int k = 0; k < depth; ++k) sums.add(&a_tiles[now][k][row], &b_tiles[now][k][column]);
      now ^= 1;
      if (has_next) next.put(a_tiles[now], b_tiles[now], thread);
      __syncthreads();  // the next tiles are complete, and everyone is done with the current ones
    }
  }
};

}  // namespace vector_tiles
