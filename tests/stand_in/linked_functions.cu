// The other file of linked_kernels.cu.
#include <cstdio>

__device__ int offset = 20;
__constant__ int factor = 3;

static __device__ __noinline__ int own(int value) { return 2 * value; }

__device__ __noinline__ int scaled(int value) {
  printf("functions\n");
  return factor * own(value);
}
