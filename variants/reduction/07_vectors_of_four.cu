// @title Vectors of four
// @hypothesis four loads of 16 bytes are under way for each thread instead of one of four, with a quarter of the
// instructions
// @parameter THREADS 256 128 512 1024
// @parameter LOADS 4 1 2 8
//
// What a GPU reads in a second is what it has under way divided by how long a load takes. Against stage 6 each load
// fetches four numbers, and a thread starts LOADS of them before it adds the first: 16 times as many bytes are under
// way, and the loop is counted once for 16 numbers. That relieves the issue slots and hides the latency of the memory,
// so the memory's rate is what binds, which is the end of this ladder for large inputs.
//
// When it loses: on small inputs, where the grid has more threads than there are vectors, most threads find nothing to
// do; and with more LOADS each thread needs more registers, so fewer of them fit.
#include "block_sum.hpp"
#include "passes.hpp"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef LOADS
#define LOADS 4
#endif

__global__ void __launch_bounds__(THREADS) vectors_of_four(const float* x, float* sums, int n) {
  const float sum =
      block_sum<THREADS>(vector_sum<LOADS>(x, n, blockIdx.x * THREADS + threadIdx.x, gridDim.x * THREADS));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" void solve(const float* x, float* y, int N) {
  sum_in_passes(
      x, y, N, [](int n) { return blocks_at_once(n, 4 * LOADS * THREADS, THREADS); },
      [](const float* from, float* to, int n, int blocks) { vectors_of_four<<<blocks, THREADS>>>(from, to, n); });
}
