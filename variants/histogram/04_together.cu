// @title Equal keys of a warp together
// @hypothesis lanes whose keys fall into the same bin are counted with one addition, so nobody waits for an equal one
// @parameter THREADS 256 512 1024
//
// The lanes of a warp ask each other which of them have the same bin, an instruction of the GPU. The first of each
// group adds the number of its lanes, and the others nothing. With eight bins that is at most eight additions for 32
// keys, each to another bin. That relieves the atomic units of the shared memory where bins are few or keys come in
// runs.
//
// When it loses: with many bins nearly every lane is a group of its own. The additions are then as many as before, and
// asking and choosing are new, eight instructions or so for a key: with 256 bins it is slower than stage 3.
#include "device_bins.hpp"

#ifndef THREADS
#define THREADS 256
#endif

__global__ void __launch_bounds__(THREADS) together(const uint16_t* keys, uint32_t* counts, int n, int bins) {
  extern __shared__ uint32_t of_block[];
  const int thread = threadIdx.x;
  for (int bin = thread; bin < bins; bin += THREADS) of_block[bin] = 0;
  __syncthreads();
  const int lane = thread % 32;
  // Lanes without keys are asked like the others, with a bin that does not exist.
  const auto count_eight = [=](const uint4& eight, bool has_keys) {
    for_each_of(eight, [=](unsigned key) {
      const unsigned bin = has_keys ? bin_of(key, bins) : bins;
      const unsigned same = __match_any_sync(0xffffffff, bin);
      if (has_keys && __ffs(same) - 1 == lane) atomicAdd(&of_block[bin], __popc(same));
    });
  };
  const auto count = [=](unsigned key) { atomicAdd(&of_block[bin_of(key, bins)], 1U); };
  for_each_key_by_warps(keys, n, count_eight, count);
  __syncthreads();
  for (int bin = thread; bin < bins; bin += THREADS) {
    if (of_block[bin] > 0) atomicAdd(&counts[bin], of_block[bin]);
  }
}

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  cudaMemsetAsync(counts, 0, sizeof(uint32_t) * B);
  const int blocks = blocks_at_once(N, 16 * THREADS, THREADS);
  together<<<blocks, THREADS, sizeof(uint32_t) * B>>>(keys, counts, N, B);
}
