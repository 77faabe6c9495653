// @title Many numbers a thread
// @hypothesis a thread sums in a register as many numbers as there are, so a tree is built once for thousands of them
//
// Against stage 5 the grid no longer grows with the input: it has as many blocks as the GPU holds at once, and each
// thread walks through the input in steps of the whole grid, one addition for each number, in a register. A warp's
// loads stay 32 consecutive numbers. Trees, barriers, starts of blocks and the next pass cost the same for any size, so
// what is left per number is a load, an addition and the counting of the loop, and the memory can bind at last.
//
// When it loses: a thread waits for each load before it starts the next, so little is under way at a time. Inputs of
// some hundred thousand numbers, for which a thread finds only one or two, pay for the tree as before. And a size just
// above what the grid takes in one step leaves most of it idle in the second.
#include "block_sum.hpp"
#include "passes.hpp"

constexpr int kThreads = 256;

__global__ void many_a_thread(const float* x, float* sums, int n) {
  float sum = 0.0F;
  const unsigned threads = gridDim.x * kThreads;
#pragma unroll 1  // otherwise nvcc has several loads under way: an idea that stage 7 adds
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < static_cast<unsigned>(n); i += threads) sum += x[i];
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" void solve(const float* x, float* y, int N) {
  sum_in_passes(
      x, y, N, [](int n) { return blocks_at_once(n, kThreads, kThreads); },
      [](const float* from, float* to, int n, int blocks) { many_a_thread<<<blocks, kThreads>>>(from, to, n); });
}
