// The largest of windows on the CPU: first down the columns, where neighbours lie side by side, then along the row that
// is left. A NaN in a window is its largest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace convladder {

/// NaN if either is.
inline float larger(float a, float b) { return b > a || b != b ? b : a; }

/// maxima[i] = the largest of `rows` elements below each other, `pitch` floats apart, for `width` columns.
inline void pool_columns(const float* input, int rows, std::ptrdiff_t pitch, int width, float* maxima) {
  std::copy(input, input + width, maxima);
  for (int row = 1; row < rows; ++row) {
    const float* const next = input + row * pitch;
#pragma omp simd
    for (int i = 0; i < width; ++i) maxima[i] = larger(maxima[i], next[i]);
  }
}

/// output[i] = the largest of `size` neighbours from i * stride on. `Stride` may be a compile-time constant.
template <typename Stride>
void pool_row_by(const float* maxima, int size, Stride stride, int width, float* output) {
#pragma omp simd
  for (int i = 0; i < width; ++i) output[i] = maxima[i * stride];
  for (int q = 1; q < size; ++q) {
#pragma omp simd
    for (int i = 0; i < width; ++i) output[i] = larger(output[i], maxima[i * stride + q]);
  }
}

/// The same. Strides of most networks are constants, so that the compiler knows where the neighbours are.
inline void pool_row(const float* maxima, int size, int stride, int width, float* output) {
  if (stride == 2) return pool_row_by(maxima, size, std::integral_constant<int, 2>(), width, output);
  if (stride == 4) return pool_row_by(maxima, size, std::integral_constant<int, 4>(), width, output);
  pool_row_by(maxima, size, stride, width, output);
}

}  // namespace convladder
