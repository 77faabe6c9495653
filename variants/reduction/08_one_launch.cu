// @title One launch
// @hypothesis the last block to finish adds up what the blocks have, which saves the second launch
// @parameter THREADS 256 128 512 1024
// @parameter LOADS 4 1 2 8
//
// The second pass of stage 7 sums some thousand numbers, but it is a launch of its own: it starts when the last block
// of the first one has ended, and lasts some microseconds, however little it does. Here each block stores its sum and
// then takes a ticket from a counter; whoever draws the last one knows that all sums are there, and adds them, always
// in the same order. The counter turns itself back to zero, so that the next call finds it as this one did.
//
// When it loses: a fence and an atomic operation for each block are new. Against the second launch that is little, and
// for large inputs neither counts. Since the counter is one for the program, two sums on two streams would disturb each
// other.
#include "block_sum.hpp"
#include "passes.hpp"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef LOADS
#define LOADS 4
#endif

__device__ unsigned finished_blocks = 0;

__global__ void __launch_bounds__(THREADS) one_launch(const float* x, float* sums, float* y, int n) {
  __shared__ bool is_last;
  float sum = block_sum<THREADS>(vector_sum<LOADS>(x, n, blockIdx.x * THREADS + threadIdx.x, gridDim.x * THREADS));
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) *y = sum;
    return;
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();  // whoever sees that the ticket is taken sees the sum
    is_last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;  // the last ticket resets it to zero
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  sum = block_sum<THREADS>(vector_sum<1>(sums, gridDim.x, threadIdx.x, THREADS));
  if (threadIdx.x == 0) *y = sum;
}

extern "C" void solve(const float* x, float* y, int N) {
  const int blocks = blocks_at_once(N, 4 * LOADS * THREADS, THREADS);
  float* sums = kept_floats(blocks);
  if (sums != nullptr) one_launch<<<blocks, THREADS>>>(x, sums, y, N);
}
