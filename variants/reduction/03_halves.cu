// @title Halves instead of neighbours
// @hypothesis threads of a warp reach for consecutive numbers, so no two of them want the same bank of shared memory
//
// Against stage 2 the order changes: thread t adds the number half a block further instead of its neighbour, then a
// quarter of a block, and so on. The threads of a warp then read and write 32 consecutive numbers, one in each bank,
// and every access takes one turn. That relieves the shared memory.
//
// It cannot lose against stage 2. What is left: half of the threads do nothing from the first step on but hold their
// place; they have loaded one number each and are gone.
#include "passes.hpp"

constexpr int kThreads = 256;

__global__ void halves(const float* x, float* sums, int n) {
  __shared__ float shared[kThreads];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * kThreads + thread;
  shared[thread] = i < n ? x[i] : 0.0F;
  __syncthreads();
#pragma unroll 1  // stage 5 is where the steps are unrolled
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (thread < step) shared[thread] += shared[thread + step];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = shared[0];
}

extern "C" void solve(const float* x, float* y, int N) {
  sum_in_passes(
      x, y, N, [](int n) { return quotient(n, kThreads); },
      [](const float* from, float* to, int n, int blocks) { halves<<<blocks, kThreads>>>(from, to, n); });
}
