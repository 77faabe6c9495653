// @title cuBLAS
// @libraries cublas
//
// cublasSgemm, which stays in float32: tensor cores with rounded factors are not allowed unless they are asked for.
// cuBLAS counts columns first, so what it is told to compute is the transpose: C^T = B^T * A^T.
#include <cublas_v2.h>

#include <cstdio>
#include <cstdlib>

namespace {

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
  std::abort();
}

}  // namespace

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made));
    return made;
  }();
  const float one = 1.0F;
  const float zero = 0.0F;
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, b, N, a, K, &zero, c, N));
}
