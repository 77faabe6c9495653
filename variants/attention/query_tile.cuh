// A block of queries against all keys with register tiles: what the upper CUDA stages share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace query_tile {

struct Problem {
  const float* q;
  const float* k;
  const float* v;
  float* out;
  float scale;
  int S;
  int D;
};

/// Whether all rows begin at multiples of 16 bytes.
inline bool has_vectors(const Problem& p) {
  const auto is_aligned = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
  return p.D % 4 == 0 && is_aligned(p.q) && is_aligned(p.k) && is_aligned(p.v) && is_aligned(p.out);
}

/// Four elements of row `i` of an S x D matrix from column `d` on; zeros outside.
template <bool vectors>
__device__ inline float4 load_four(const float* rows, const Problem& p, int i, int d) {
  float4 value = {0.0F, 0.0F, 0.0F, 0.0F};
  if (i >= p.S || d >= p.D) return value;
  const float* const from = rows + static_cast<std::size_t>(i) * p.D + d;
  if constexpr (vectors) {
    value = *reinterpret_cast<const float4*>(from);
  } else {
    value.x = from[0];
    if (d + 1 < p.D) value.y = from[1];
    if (d + 2 < p.D) value.z = from[2];
    if (d + 3 < p.D) value.w = from[3];
  }
  return value;
}

template <bool vectors>
__device__ inline void store_four(float* rows, const Problem& p, int i, int d, const float* values, float factor) {
  if (i >= p.S || d >= p.D) return;
  float* const to = rows + static_cast<std::size_t>(i) * p.D + d;
  if constexpr (vectors) {
    *reinterpret_cast<float4*>(to) =
        make_float4(values[0] * factor, values[1] * factor, values[2] * factor, values[3] * factor);
  } else {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      if (d + n < p.D) to[n] = values[n] * factor;
    }
  }
}

/// count rows from `first` on, turned round: to[d * pitch + row]. The threads of a warp have different rows, so that
/// what they put lies side by side.
template <int count, int width, int threads, bool vectors>
__device__ inline void copy_turned(float* to, int pitch, const float* rows, const Problem& p, int first, float factor) {
#pragma unroll 4
  for (int n = static_cast<int>(threadIdx.x); n < count * width / 4; n += threads) {
    const int row = n % count;
    const int d = n / count * 4;
    const float4 value = load_four<vectors>(rows, p, first + row, d);
    to[d * pitch + row] = value.x * factor;
    to[(d + 1) * pitch + row] = value.y * factor;
    to[(d + 2) * pitch + row] = value.z * factor;
    to[(d + 3) * pitch + row] = value.w * factor;
  }
}

template <int count, int width, int threads, bool vectors>
__device__ inline void copy_rows(float* to, const float* rows, const Problem& p, int first) {
#pragma unroll 4
  for (int n = static_cast<int>(threadIdx.x); n < count * width / 4; n += threads) {
    const float4 value = load_four<vectors>(rows, p, first + n / (width / 4), n % (width / 4) * 4);
    reinterpret_cast<float4*>(to)[n] = value;
  }
}

__device__ inline void load_vector(float (&to)[4], const float* from) {
  const float4 value = *reinterpret_cast<const float4*>(from);
  to[0] = value.x;
  to[1] = value.y;
  to[2] = value.z;
  to[3] = value.w;
}

}  // namespace query_tile
