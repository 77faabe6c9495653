// What the stages from 06 on share: how a block adds up what its threads have, and how many blocks a GPU holds.
#pragma once

/// The sum of what the threads of a warp bring: the first lane gets it.
__device__ inline float warp_sum(float sum) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  return sum;
}

/// The sum of what all threads of the block bring: the first thread gets it. Shuffles in every warp, then in one warp
/// for all of them: one barrier. `kThreads`: a multiple of 32, up to 1024.
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

/// Blocks for n numbers: one for each `share` of them, as many as the GPU holds at once and no more; one where a second
/// pass would take longer than what it saves.
inline int blocks_at_once(int n, int share, int threads) {
  static const int multiprocessors = [] {
    int device = 0;
    int count = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count > 0 ? count : 1;
  }();
  constexpr int kThreadsAtOnce = 2048;  // of a multiprocessor
  if (n <= 16 * threads) return 1;
  const int most = multiprocessors * (kThreadsAtOnce / threads);
  const int blocks = (n - 1) / share + 1;
  return blocks < most ? blocks : most;
}
