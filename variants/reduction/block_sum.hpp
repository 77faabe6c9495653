// The sum of a block's threads, that of a thread over its part of the input, and the number of blocks that a GPU holds.
// The CUDA stages from 06 on share them.
#pragma once

#include <cstdint>

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

__device__ inline float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// The sum of thread `thread` of `threads`. Each loads `kLoads` vectors before it adds the first. A vector begins at a
/// multiple of 16 bytes: numbers before the first vector and behind the last one are added one by one.
template <int kLoads>
__device__ float vector_sum(const float* x, unsigned n, unsigned thread, unsigned threads) {
  const unsigned misplaced = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(x) / sizeof(float) % 4);
  const unsigned before = min(n, (4 - misplaced) % 4);
  const unsigned vectors = (n - before) / 4;
  const unsigned behind = before + 4 * vectors;
  const float4* fours = reinterpret_cast<const float4*>(x + before);

  float4 sums = make_float4(0, 0, 0, 0);  // four chains of additions instead of one
  unsigned i = thread;
  for (; i + (kLoads - 1) * threads < vectors; i += kLoads * threads) {
    float4 loaded[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) loaded[k] = fours[i + k * threads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sums = sums + loaded[k];
  }
  for (; i < vectors; i += threads) sums = sums + fours[i];
  if (thread < before) sums.x += x[thread];
  if (thread < n - behind) sums.y += x[behind + thread];
  return (sums.x + sums.y) + (sums.z + sums.w);
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
