// @title A copy for each bank
// @builds-on vectors-of-eight
// @hypothesis each lane counts in a copy of its own, which lies in a bank of its own, so no two lanes ever meet
// @parameter THREADS 512 256 1024
// @parameter COPIES 32 8 16
//
// Two lanes disturb each other if they want the same bin, and also if their bins lie in the same of the 32 banks.
// Against stage 3 a block has several copies of the counts, side by side: copy c of bin b is word b * copies + c. With
// 32 copies lane l counts in copy l, and its words all lie in bank l. Other warps count in the same copies, so the
// additions stay atomic, but none of a warp's waits for another. It serves any number of bins alike, and needs no
// asking as stage 4 does. That relieves the atomic units and the banks.
//
// When it loses: 32 copies of 256 bins are 32 KB, to be cleared and added up by each block; so the blocks are larger
// and fewer than in stage 3, and inputs of few keys pay more than they gain. Above 256 bins there is room for fewer
// copies, and lanes meet again.
#include "device_bins.hpp"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef COPIES
#define COPIES 32
#endif

__global__ void __launch_bounds__(THREADS)
    a_copy_for_each_bank(const uint16_t* keys, uint32_t* counts, int n, int bins, int copies) {
  extern __shared__ uint32_t of_block[];
  const int thread = threadIdx.x;
  for (int i = thread; i < bins * copies; i += THREADS) of_block[i] = 0;
  __syncthreads();
  uint32_t* const mine = of_block + thread % copies;
  const auto count = [=](unsigned key) { atomicAdd(&mine[bin_of(key, bins) * copies], 1U); };
  for_each_key(
      keys, n, [=](const uint4& eight) { for_each_of(eight, count); }, count);
  __syncthreads();
  for (int bin = thread; bin < bins; bin += THREADS) {
    uint32_t sum = 0;
    // Each thread begins with a different copy; otherwise all threads of a warp would want the same bank.
    for (int copy = 0; copy < copies; ++copy) sum += of_block[bin * copies + (copy + thread) % copies];
    if (sum > 0) atomicAdd(&counts[bin], sum);
  }
}

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  cudaMemsetAsync(counts, 0, sizeof(uint32_t) * B);
  constexpr int kMostWords = 8192;  // words of a block: four blocks fit into a multiprocessor's shared memory
  int copies = COPIES;              // a power of two
  while (copies * B > kMostWords) copies /= 2;
  const int blocks = blocks_at_once(N, 16 * THREADS, THREADS);
  a_copy_for_each_bank<<<blocks, THREADS, sizeof(uint32_t) * B * copies>>>(keys, counts, N, B, copies);
}
