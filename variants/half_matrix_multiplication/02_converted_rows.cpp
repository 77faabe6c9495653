// @title Rows of B, converted once for a block of rows
// @hypothesis A row of B is turned into floats once for 64 rows of C, 8 or 16 elements with one instruction.
// @parameter ROWS 64 16 256
//
// A block of ROWS rows of C is computed at a time: a row of B is turned into floats, by vectors where the processor has
// F16C or AVX-512, and then added to all rows of the block, times the element of A that belongs to each. Against the
// stage below there is a conversion for each element of B and block instead of two for each product, and all of memory
// is read in order. That relieves the arithmetic of whole numbers and the cache.
//
// When it loses: C is loaded and stored for each product. With one row (M = 1) each row of B is converted for a single
// use, which costs no more than the stage below.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "half_floats.hpp"

#ifndef ROWS
#define ROWS 64
#endif

extern "C" void solve(const std::uint16_t* a, const std::uint16_t* b, float* c, int M, int N, int K) {
  const std::size_t columns = static_cast<std::size_t>(N);
  std::fill_n(c, M * columns, 0.0F);
  std::vector<float> row(columns);
  for (int i0 = 0; i0 < M; i0 += ROWS) {
    for (int k = 0; k < K; ++k) {
      half_floats::to_floats(b + k * columns, N, row.data());
      for (int i = i0; i < std::min(M, i0 + ROWS); ++i) {
        const float factor = half_floats::to_float(a[static_cast<std::size_t>(i) * K + k]);
        float* const sums = c + i * columns;
        for (int j = 0; j < N; ++j) sums[j] += factor * row[static_cast<std::size_t>(j)];
      }
    }
  }
}
