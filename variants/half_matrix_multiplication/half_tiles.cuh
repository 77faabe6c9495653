// Loads eight half floats at a time from any place of a matrix. The upper CUDA stages share it.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

namespace half_tiles {

struct Problem {
  const __half* a;
  const __half* b;
  float* c;
  int M;
  int N;
  int K;
};

/// Whether all rows of A and B begin at multiples of 16 bytes.
inline bool has_vectors(const Problem& p) {
  const auto is_aligned = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
  return p.K % 8 == 0 && p.N % 8 == 0 && is_aligned(p.a) && is_aligned(p.b) && is_aligned(p.c);
}

/// Copies eight neighbouring elements of row `i` of a rows x columns matrix from column `j` on to shared memory, with
/// zeros outside of the matrix.
template <bool vectors>
__device__ inline void copy_eight(__half* to, const __half* matrix, int rows, int columns, int i, int j) {
  uint4 value = {0, 0, 0, 0};
  const __half* const from = matrix + static_cast<std::size_t>(i) * columns + j;
  if constexpr (vectors) {
    if (i < rows && j < columns) value = *reinterpret_cast<const uint4*>(from);
  } else {
    std::uint32_t words[4];
#pragma unroll
    for (int n = 0; n < 8; n += 2) {
      const bool has_first = i < rows && j + n < columns;
      const bool has_second = i < rows && j + n + 1 < columns;
      const std::uint32_t first = has_first ? __half_as_ushort(from[n]) : 0;
      const std::uint32_t second = has_second ? __half_as_ushort(from[n + 1]) : 0;
      words[n / 2] = first | second << 16;
    }
    value = {words[0], words[1], words[2], words[3]};
  }
  *reinterpret_cast<uint4*>(to) = value;
}

}  // namespace half_tiles
