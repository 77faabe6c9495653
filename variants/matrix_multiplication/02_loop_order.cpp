// @title Rows of B instead of columns
// @hypothesis The innermost loop runs along rows of B and C: whole cache lines, whole vectors, no sum that waits.
//
// The same three loops with the two inner ones exchanged. A row of C is the sum of rows of B, each times one element of
// A. Against the naive stage the innermost loop goes through memory in order, and its steps do not depend on each
// other, so the compiler makes vectors of them (8 or 16 elements at a time).
//
// When it loses: never against the naive one. But a row of C is loaded and stored again for each row of B, two loads
// and a store for one multiply-add, and all of B passes by for each row of C: larger than the cache, it is fetched from
// memory M times.
#include <algorithm>
#include <cstddef>

extern "C" void solve(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N,
                      int K) {
  for (int i = 0; i < M; ++i) {
    float* const sums = c + static_cast<std::size_t>(i) * N;
    std::fill_n(sums, N, 0.0F);
    for (int k = 0; k < K; ++k) {
      const float factor = a[static_cast<std::size_t>(i) * K + k];
      const float* const row = b + static_cast<std::size_t>(k) * N;
      for (int j = 0; j < N; ++j) sums[j] += factor * row[j];
    }
  }
}
