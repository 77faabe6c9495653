// Code that is inlined across two files.
#pragma once
#include <cuda_runtime.h>

template <typename F>
__global__ void wrap(F f) {
  f(threadIdx.x);  // wrapper's line
}

__device__ __forceinline__ void put(int* a, int i) {
  a[i] = i;  // put's line
}

void calls(int n);
