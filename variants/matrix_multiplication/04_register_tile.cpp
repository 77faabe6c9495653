// @title Sums in vector registers
// @hypothesis 14 x 32 sums stay in registers for a block of the depth: 16 loads for 28 vector multiply-adds, no store.
// @parameter DEPTH 256 128 512
//
// A tile of C that the vector registers can hold: 14 rows x 32 columns with AVX-512, 6 x 16 with AVX2. For each step of
// the depth two vectors of a row of B are loaded, and each of the 14 elements of A is spread over a vector and
// multiplied with both. Against the stage below no sum is loaded or stored inside the loop: 28 vector multiply-adds
// take 16 loads and no store, instead of 35 and 7. That relieves the ports of the first-level cache, and what is left
// is the arithmetic. There are so many sums that each multiply-add has 28 others to overlap with.
//
// When it loses: with fewer rows or columns than the tile has. The tile takes B in strips of 128 bytes, a row of B
// apart: each is another page where rows are long, and rows of a power of two share a few sets of the cache. The stage
// above copies B first.
#include <algorithm>
#include <cstddef>

#include "register_tile.hpp"

#ifndef DEPTH
#define DEPTH 256
#endif

using namespace register_tile;

namespace {

/// A copy of B's last columns if there are fewer than a tile has, padded with zeros.
struct LastColumns {
  float data[DEPTH * kColumns] = {};

  void copy(const float* b, int N, int depth, int columns) {
    for (int k = 0; k < depth; ++k) std::copy_n(b + static_cast<std::size_t>(k) * N, columns, data + k * kColumns);
  }
};

}  // namespace

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const std::size_t pitch = static_cast<std::size_t>(N);
  LastColumns last;
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    const int depth = std::min(DEPTH, K - k0);
    for (int j0 = 0; j0 < N; j0 += kColumns) {
      const int columns = std::min(kColumns, N - j0);
      Right right{b + k0 * pitch + j0, pitch};
      if (columns < kColumns) {
        last.copy(right.data, N, depth, columns);
        right = {last.data, kColumns};
      }
      for (int i0 = 0; i0 < M; i0 += kRows) {
        const Left left{a + static_cast<std::size_t>(i0) * K + k0, static_cast<std::size_t>(K), 1};
        const Target target{c + i0 * pitch + j0, pitch, columns, k0 == 0};
        with_rows(std::min(kRows, M - i0), [&]<int rows>() { multiply<rows>(left, right, depth, target); });
      }
    }
  }
}
