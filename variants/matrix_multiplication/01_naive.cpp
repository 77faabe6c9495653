// @title As the formula reads
// @hypothesis One sum after the other: each step waits for the addition before it and jumps to the next row of B.
//
// The three loops of the definition: for each element of C the products along a row of A and down a column of B.
//
// What it costs: floating-point additions may not be put into another order, so the compiler cannot use vectors, and
// each addition waits 3 or 4 cycles for the one before it. Going down a column of B touches one cache line for each
// element and uses 4 of its 64 bytes. Once B is larger than the cache, every line comes from memory N / 16 times too
// often. It never wins; everything above is compared with it.
#include <cstddef>

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0.0F;
      for (int k = 0; k < K; ++k)
        sum += a[static_cast<std::size_t>(i) * K + k] * b[static_cast<std::size_t>(k) * N + j];
      c[static_cast<std::size_t>(i) * N + j] = sum;
    }
  }
}
