// The sum of a block's threads, and the number of blocks that a GPU holds. The stages from 06 on share them.
#pragma once

/// The sum of the values of a warp's threads: the first lane gets it.
__device__ inline float warp_sum(float sum) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  return sum;
}

/// The sum of the values of all threads of the block: the first thread gets it. Every warp sums with shuffles, then one
/// warp sums for all of them: that takes one barrier. `kThreads` must be a multiple of 32, up to 1024.
template <int kThreads>
__device__ float block_sum(float sum) {
  constexpr int kWarps = kThreads / 32;
  __shared__ float of_warps[kWarps];
  const int thread = threadIdx.x;
  sum = warp_sum(sum);
  if (thread % 32 == 0) of_warps[thread / 32] = sum;
  __syncthreads();
  return thread < 32 ? warp_sum(thread < kWarps ? of_warps[thread] : 0.0F) : 0.0F;
}

/// Blocks for n numbers: one for each `share` of them, but no more than the GPU holds at once; only one if a second
/// pass would take longer than it saves.
inline int blocks_at_once(int n, int share, int threads) {
  static const int multiprocessors = [] {
    int device = 0;
    int count = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count > 0 ? count : 1;
  }();
  constexpr int kThreadsAtOnce = 2048;  // threads of a multiprocessor
  if (n <= 16 * threads) return 1;
  const int most = multiprocessors * (kThreadsAtOnce / threads);
  const int blocks = (n - 1) / share + 1;
  return blocks < most ? blocks : most;
}
