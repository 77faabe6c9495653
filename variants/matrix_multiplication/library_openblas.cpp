// @title OpenBLAS
// @libraries openblas
//
// cblas_sgemm: row-major, float32. The library has threads of its own unless it was built for OpenMP; it gets as many
// as OpenMP would use.
#include <cblas.h>
#include <omp.h>

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  static const int threads = [] {
    openblas_set_num_threads(omp_get_max_threads());
    return openblas_get_num_threads();
  }();
  static_cast<void>(threads);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0F, a, K, b, N, 0.0F, c, N);
}
