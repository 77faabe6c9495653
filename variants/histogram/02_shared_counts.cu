// @title Counts of a block
// @hypothesis each block counts in its shared memory, so the L2 is asked once for a bin and a block instead of once a
// key
//
// Each block has counts of its own in shared memory, where atomic additions of one multiprocessor do not disturb
// another. At its end it adds them to those in global memory. There are only as many blocks as the GPU holds at once,
// and they walk through the keys, so that there is little to add at the end. That relieves the L2.
//
// When it loses: with few keys for each block, or very many bins, clearing and adding up the counts takes longer than
// counting. Keys of a warp that fall into one bin still wait for each other, and so do different bins in one bank.
#include "device_bins.hpp"

constexpr int kThreads = 256;

__global__ void shared_counts(const uint16_t* keys, uint32_t* counts, int n, int bins) {
  extern __shared__ uint32_t of_block[];
  const int thread = threadIdx.x;
  for (int bin = thread; bin < bins; bin += kThreads) of_block[bin] = 0;
  __syncthreads();
  const int threads = gridDim.x * kThreads;
#pragma unroll 1  // otherwise nvcc has several loads under way: an idea that stage 3 adds
  for (int i = blockIdx.x * kThreads + thread; i < n; i += threads) atomicAdd(&of_block[bin_of(keys[i], bins)], 1U);
  __syncthreads();
  for (int bin = thread; bin < bins; bin += kThreads) {
    if (of_block[bin] > 0) atomicAdd(&counts[bin], of_block[bin]);
  }
}

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  cudaMemsetAsync(counts, 0, sizeof(uint32_t) * B);
  const int blocks = blocks_at_once(N, 16 * kThreads, kThreads);
  shared_counts<<<blocks, kThreads, sizeof(uint32_t) * B>>>(keys, counts, N, B);
}
