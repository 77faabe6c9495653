// @title Interleaved pairs
// @hypothesis the baseline: most threads of every warp idle, and still every warp executes every step
//
// A tree in shared memory. Each thread brings one number; then every second thread adds its neighbour's, every fourth
// the one two further, and so on: after eight steps the first of 256 threads has the sum of the block. The sums of the
// blocks are summed in the same way by further launches.
//
// What it costs: the threads that work are spread over all warps, so each step is executed by all eight warps for half
// as many numbers, the last one for one number. A remainder decides which threads work, and no unit computes
// remainders: it takes some twenty instructions. So the issue slots bind, and the memory, which is all that a sum
// needs, waits. It never wins. It is the first stage, and all others are compared with it.
#include "passes.hpp"

constexpr int kThreads = 256;

__global__ void interleaved(const float* x, float* sums, int n) {
  __shared__ float shared[kThreads];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * kThreads + thread;
  shared[thread] = i < n ? x[i] : 0.0F;
  __syncthreads();
#pragma unroll 1  // unrolled, the remainder would be by a constant: one instruction
  for (int step = 1; step < kThreads; step *= 2) {
    if (thread % (2 * step) == 0) shared[thread] += shared[thread + step];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = shared[0];
}

extern "C" void solve(const float* x, float* y, int N) {
  sum_in_passes(
      x, y, N, [](int n) { return quotient(n, kThreads); },
      [](const float* from, float* to, int n, int blocks) { interleaved<<<blocks, kThreads>>>(from, to, n); });
}
