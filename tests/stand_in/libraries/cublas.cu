// A cuBLAS for the tests: right products by a plain kernel, and refusals where the real one refuses. It has what
// variants/fully_connected/cuda/cublas_library.cpp asks for, and nothing else.
#include <cublas_v2.h>

#include <algorithm>

#include "calls.hpp"

using library_of_tests::answered;
using library_of_tests::Living;

struct cublasContext {};

namespace {

Living<cublasContext> handles;

/// c[m x n] = alpha * op(a)[m x k] * op(b)[k x n] + beta * c, column-major.
__global__ void multiply(int m, int n, int k, float alpha, const float* a, int a_row, int a_column, const float* b,
                         int b_row, int b_column, float beta, float* c, int c_column) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place >= m * n) return;
  const int row = place % m;
  const int column = place / m;
  float sum = 0.0F;
  for (int i = 0; i < k; ++i) sum += a[row * a_row + i * a_column] * b[i * b_row + column * b_column];
  float& to = c[row + column * c_column];
  to = alpha * sum + (beta == 0.0F ? 0.0F : beta * to);
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = nullptr;
  return answered<cublasStatus_t>("cublasCreate", *handle, [&] {
    *handle = handles.make();
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return answered<cublasStatus_t>("cublasDestroy", handle, [&] {
    return handles.destroy(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
  });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : type == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t) {
  return answered<cublasStatus_t>("cublasSetMathMode", handle, [&] {
    return handles.has(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
  });
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n,
                              int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc) {
  return answered<cublasStatus_t>("cublasSgemm", handle, [&] {
    if (!handles.has(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    const bool turned_a = of_a != CUBLAS_OP_N;
    const bool turned_b = of_b != CUBLAS_OP_N;
    if (m < 0 || n < 0 || k < 0 || lda < std::max(1, turned_a ? k : m) || ldb < std::max(1, turned_b ? n : k) ||
        ldc < std::max(1, m)) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    constexpr int kThreads = 128;
    multiply<<<(m * n + kThreads - 1) / kThreads, kThreads>>>(m, n, k, *alpha, a, turned_a ? lda : 1,
                                                              turned_a ? 1 : lda, b, turned_b ? ldb : 1,
                                                              turned_b ? 1 : ldb, *beta, c, ldc);
    return cudaGetLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  });
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    default:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
  }
}
}
