// @title Doubling steps
// @hypothesis the baseline: ten additions for each number, where the definition has one
//
// The scan of Hillis and Steele, in one block of 1024 threads. In each step every thread adds the number that stands 1,
// 2, 4, ... places before its own; after ten steps each has the sum of all numbers up to it. A second array in shared
// memory takes turns with the first, so that nobody reads what somebody else has written in the same step. One block
// walks through the input, 1024 numbers at a time, and carries the sum of what was before.
//
// What it costs: N log N additions instead of N, each with two reads and a write of shared memory, and eleven barriers
// for 1024 numbers. And it is one block: all multiprocessors but one idle. It never wins for large inputs.
#include <cstdint>

constexpr int kThreads = 1024;

__global__ void __launch_bounds__(kThreads) doubling_steps(const int32_t* x, int32_t* y, int n) {
  __shared__ int32_t shared[2][kThreads];
  const int thread = threadIdx.x;
  int32_t carry = 0;
  for (int begin = 0; begin < n; begin += kThreads) {
    const int i = begin + thread;
    int now = 0;
    shared[now][thread] = i < n ? x[i] : 0;
    __syncthreads();
#pragma unroll 1
    for (int step = 1; step < kThreads; step *= 2) {
      const int32_t before = thread >= step ? shared[now][thread - step] : 0;
      shared[1 - now][thread] = before + shared[now][thread];
      now = 1 - now;
      __syncthreads();
    }
    if (i < n) y[i] = carry + shared[now][thread];
    carry += shared[now][kThreads - 1];
    __syncthreads();  // everyone has read before the next tile is stored
  }
}

extern "C" void solve(const int32_t* x, int32_t* y, int N) { doubling_steps<<<1, kThreads>>>(x, y, N); }
