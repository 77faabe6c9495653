// @title Eight keys a load
// @hypothesis a load of 16 bytes brings eight keys, so an eighth of the loads and of the loop's counting is left
// @parameter THREADS 256 512 1024
//
// A key has two bytes: a warp of stage 2 fetches 64 bytes with each load, half of what a load can carry with four bytes
// a thread and an eighth of what it can at most. Here a thread fetches eight keys at once and takes them apart in
// registers. That relieves the issue slots and has more bytes of the input under way, so the atomic additions in shared
// memory are the bottleneck that is left.
//
// When it loses: small inputs give work to an eighth of the threads.
#include "device_bins.hpp"

#ifndef THREADS
#define THREADS 256
#endif

__global__ void __launch_bounds__(THREADS) vectors_of_eight(const uint16_t* keys, uint32_t* counts, int n, int bins) {
  extern __shared__ uint32_t of_block[];
  const int thread = threadIdx.x;
  for (int bin = thread; bin < bins; bin += THREADS) of_block[bin] = 0;
  __syncthreads();
  const auto count = [=](unsigned key) { atomicAdd(&of_block[bin_of(key, bins)], 1U); };
  for_each_key(
      keys, n, [=](const uint4& eight) { for_each_of(eight, count); }, count);
  __syncthreads();
  for (int bin = thread; bin < bins; bin += THREADS) {
    if (of_block[bin] > 0) atomicAdd(&counts[bin], of_block[bin]);
  }
}

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  cudaMemsetAsync(counts, 0, sizeof(uint32_t) * B);
  const int blocks = blocks_at_once(N, 16 * THREADS, THREADS);
  vectors_of_eight<<<blocks, THREADS, sizeof(uint32_t) * B>>>(keys, counts, N, B);
}
