// @title A block of B that stays in the cache
// @hypothesis Rows of C take their share of a block of B while it lies in the second-level cache.
// @parameter DEPTH 64 32 128 256
// @parameter COLUMNS 512 256 1024
//
// Loops in blocks. Against the stage below, which has all of B pass by for each row of C, a block of DEPTH rows and
// COLUMNS columns of B (128 KiB) serves all rows of C before the next block is looked at, and the piece of C that is
// being added to (2 KiB) stays in the first-level cache. That relieves the memory and the last level of the cache: B is
// read from there once, not M times, and C once for each DEPTH rows.
//
// When it loses: where B fits into the second-level cache as a whole. Each multiply-add still loads an element of B and
// one of C and stores it: the ports of the first-level cache set the pace, not the arithmetic.
#include <algorithm>
#include <cstddef>

#ifndef DEPTH
#define DEPTH 64
#endif
#ifndef COLUMNS
#define COLUMNS 512
#endif

extern "C" void solve(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N,
                      int K) {
  std::fill_n(c, static_cast<std::size_t>(M) * N, 0.0F);
  for (int j0 = 0; j0 < N; j0 += COLUMNS) {
    const int columns = std::min(COLUMNS, N - j0);
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
      const int depth = std::min(DEPTH, K - k0);
      for (int i = 0; i < M; ++i) {
        const float* const factors = a + static_cast<std::size_t>(i) * K + k0;
        float* const sums = c + static_cast<std::size_t>(i) * N + j0;
        for (int k = 0; k < depth; ++k) {
          const float* const row = b + static_cast<std::size_t>(k0 + k) * N + j0;
          for (int j = 0; j < columns; ++j) sums[j] += factors[k] * row[j];
        }
      }
    }
  }
}
