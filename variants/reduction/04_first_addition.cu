// @title First addition while loading
// @hypothesis each thread adds two numbers before the tree begins, so half as many blocks walk through its steps
//
// A thread of stage 3 loads one number, and half of the threads never add anything. Here each one loads two, half a
// block's share apart, adds them in a register and stores the sum: the first step of the tree is done by all threads,
// without shared memory and without a barrier. There are half as many blocks, so half as many trees, barriers and sums
// for the next pass, and each thread has two loads under way instead of one.
//
// When it loses: where there are fewer blocks than multiprocessors anyway, fewer of them means fewer that work.
#include "passes.hpp"

constexpr int kThreads = 256;
constexpr int kShare = 2 * kThreads;  // numbers of a block

__global__ void first_addition(const float* x, float* sums, int n) {
  __shared__ float shared[kThreads];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * kShare + thread;
  const float first = i < n ? x[i] : 0.0F;
  const float second = i + kThreads < n ? x[i + kThreads] : 0.0F;
  shared[thread] = first + second;
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
      x, y, N, [](int n) { return quotient(n, kShare); },
      [](const float* from, float* to, int n, int blocks) { first_addition<<<blocks, kThreads>>>(from, to, n); });
}
