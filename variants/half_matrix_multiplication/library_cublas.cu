// @title cuBLAS
// @libraries cublas
//
// cublasGemmEx: factors of 16 bits, sums of 32, on tensor cores. cuBLAS counts columns first, so what it is told to
// compute is the transpose: C^T = B^T * A^T.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstdlib>

namespace {

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
  std::abort();
}

}  // namespace

extern "C" void solve(const __half* a, const __half* b, float* c, int M, int N, int K) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made));
    return made;
  }();
  const float one = 1.0F;
  const float zero = 0.0F;
  check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, b, CUDA_R_16F, N, a, CUDA_R_16F, K, &zero, c,
                     CUDA_R_32F, N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
