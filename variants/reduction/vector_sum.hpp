// The sum of a grid's thread over its part of the input, in vectors of four. The stages from 07 on share it.
#pragma once

#include <cstdint>

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
