// @title Packed threads
// @hypothesis the working threads are the first ones, so whole warps end instead of idling, and no remainder is
// computed
//
// Pairs are added in the order of stage 1. Only the threads that add them change: thread t takes pair
// t, so the threads that work are always the first ones of the block. From the fourth step on, seven of eight warps
// have nothing to do but wait at the barrier. That relieves the issue slots.
//
// When it loses: neighbouring threads now reach for numbers that are 2, 4, 8, ... apart. Shared memory has 32 banks,
// so 2, 4, 8, ... threads of a warp want the same bank, and the access takes as many turns. Fewer warps ask, but
// together they take as many turns as all warps did in stage 1: the shared memory gains nothing.
#include "passes.hpp"

constexpr int kThreads = 256;

__global__ void packed_threads(const float* x, float* sums, int n) {
  __shared__ float shared[kThreads];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * kThreads + thread;
  shared[thread] = i < n ? x[i] : 0.0F;
  __syncthreads();
#pragma unroll 1  // stage 5 is where the steps are unrolled
  for (int step = 1; step < kThreads; step *= 2) {
    const int first = 2 * step * thread;
    if (first < kThreads) shared[first] += shared[first + step];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = shared[0];
}

extern "C" void solve(const float* x, float* y, int N) {
  sum_in_passes(
      x, y, N, [](int n) { return quotient(n, kThreads); },
      [](const float* from, float* to, int n, int blocks) { packed_threads<<<blocks, kThreads>>>(from, to, n); });
}
