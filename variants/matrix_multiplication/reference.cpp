// c[i][j] = sum over k of a[i][k] * b[k][j]. Errors are relative to the sum of |a * b|: in any order of the terms
// float32 errs by a small multiple of 2^-24 times this.
#include <cmath>
#include <cstddef>

extern "C" void reference(const double* a, const double* b, double* c, double* c_scale, int M, int N, int K) {
  const std::size_t columns = static_cast<std::size_t>(N);
  for (int i = 0; i < M; ++i) {
    double* const sums = c + i * columns;
    double* const scales = c_scale + i * columns;
    for (int j = 0; j < N; ++j) sums[j] = scales[j] = 0;
    for (int k = 0; k < K; ++k) {
      const double factor = a[static_cast<std::size_t>(i) * K + k];
      const double* const row = b + k * columns;
      for (int j = 0; j < N; ++j) {
        sums[j] += factor * row[j];
        scales[j] += std::abs(factor * row[j]);
      }
    }
  }
}
