// @title Four rows of B at once, in blocks for the cache
// @hypothesis Four rows of B are added to a row of C at once: 5 loads and a store for 4 products, not 8 and 4.
// @parameter DEPTH 16 8 32 64
// @parameter COLUMNS 512 256 1024
//
// Two changes to the loops of the stage below. Four rows of B, each times its element of A, are added to the row of C
// in one go, so that an element of C is loaded and stored once for four products. And the loops go in blocks: DEPTH
// rows and COLUMNS columns of B (32 KiB) serve all rows of C before the next block is looked at, and stay in the
// first-level cache meanwhile. The first relieves the ports of that cache, the second what lies behind it: B is read
// from there once, not M times. Only both together help much, as either alone leaves the other to wait for.
//
// When it loses: C is loaded and stored once for each DEPTH rows of B, from the second-level cache or from farther
// away, so a C that is much larger than A and B sets the pace. A first-level cache of 32 KiB is better off with 256
// columns. And each product still loads its element of B from the cache.
#include <algorithm>
#include <cstddef>

#ifndef DEPTH
#define DEPTH 16
#endif
#ifndef COLUMNS
#define COLUMNS 512
#endif

extern "C" void solve(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N,
                      int K) {
  const std::size_t pitch = static_cast<std::size_t>(N);
  std::fill_n(c, M * pitch, 0.0F);
  for (int j0 = 0; j0 < N; j0 += COLUMNS) {
    const int columns = std::min(COLUMNS, N - j0);
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
      const int depth = std::min(DEPTH, K - k0);
      for (int i = 0; i < M; ++i) {
        const float* const factors = a + static_cast<std::size_t>(i) * K + k0;
        float* const sums = c + i * pitch + j0;
        int k = 0;
        for (; k + 4 <= depth; k += 4) {
          const float* const row = b + (k0 + k) * pitch + j0;
          for (int j = 0; j < columns; ++j) {
            sums[j] += factors[k] * row[j] + factors[k + 1] * row[pitch + j] + factors[k + 2] * row[2 * pitch + j] +
                       factors[k + 3] * row[3 * pitch + j];
          }
        }
        for (; k < depth; ++k) {
          const float* const row = b + (k0 + k) * pitch + j0;
          for (int j = 0; j < columns; ++j) sums[j] += factors[k] * row[j];
        }
      }
    }
  }
}
