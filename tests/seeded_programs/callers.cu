// What is inlined from another file, twice: each has its own caller.
#include "callers.h"

void calls(int n) {
  int* a;
  cudaMalloc(&a, 400);
  wrap<<<1, 32>>>([=] __device__(int i) {
    put(a, i);          // right
    put(a, i + n);      // first caller
    put(a, i + n + 1);  // second caller
  });
  cudaDeviceSynchronize();
  cudaFree(a);
}
