// Compiled with -rdc=true beside linked_functions.cu: calls its function and reads its variable. Both files have
// functions and texts of the same name of their own.
#include <cuda_runtime.h>

#include <cstdio>

#include "expect.h"

extern __device__ int offset;
extern __constant__ int factor;
__device__ int scaled(int value);

static __device__ __noinline__ int own(int value) { return value + 1; }

__global__ void compute(int* result) {
  *result = scaled(own(offset)) + factor;
  printf("kernels\n");
}

int main() {
  int* result = nullptr;
  int host = 0;
  EXPECT_OK(cudaMalloc(&result, sizeof host));
  compute<<<1, 1>>>(result);
  EXPECT_OK(cudaMemcpy(&host, result, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host == 3 * 2 * 21 + 3);
  const int other = 5;
  EXPECT_OK(cudaMemcpyToSymbol(offset, &other, sizeof other));  // the one variable of both
  compute<<<1, 1>>>(result);
  EXPECT_OK(cudaMemcpy(&host, result, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host == 3 * 2 * 6 + 3);
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaFree(result));
  return outcome();
}
