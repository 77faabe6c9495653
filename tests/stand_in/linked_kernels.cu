// Compiled with -rdc=true beside linked_functions.cu: calls its function and reads its variable. Both files have
// functions and texts of the same name of their own.
#include <cuda_runtime.h>

#include <cstdio>

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
  cudaMalloc(&result, sizeof host);
  compute<<<1, 1>>>(result);
  cudaMemcpy(&host, result, sizeof host, cudaMemcpyDeviceToHost);
  const int other = 5;
  cudaMemcpyToSymbol(offset, &other, sizeof other);  // the one variable of both
  int changed = 0;
  compute<<<1, 1>>>(result);
  cudaMemcpy(&changed, result, sizeof changed, cudaMemcpyDeviceToHost);
  const cudaError_t status = cudaGetLastError();
  if (host != 3 * 2 * 21 + 3 || changed != 3 * 2 * 6 + 3)
    std::printf("%d, %d, %s\n", host, changed, cudaGetErrorName(status));
  cudaFree(result);
  std::puts("all as documented");
}
