// Max pooling of some rows of windows on the CPU: first down the columns, where neighbours lie side by side, then along
// all rows at once, since a single row of a small layer would be a vector or less.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace convladder {

/// Windows of size x size, `stride` apart, in rows of `width` columns; none is cut off. A NaN in a window is its
/// largest.
class RowPooling {
 public:
  RowPooling(int size, int stride, int width) : size_(size), stride_(stride), width_(width) {}

  int pooled_width() const { return (width_ - size_) / stride_ + 1; }
  /// Floats of scratch memory that `pool` needs for so many rows of windows.
  int scratch(int rows) const { return rows * pitch() * (stride_ + 1) + size_; }

  /// Writes rows * pooled_width floats. Rows of the input are `input_pitch` floats apart, those of the output lie one
  /// behind the other. The scratch memory has been written before, if only with zeros.
  void pool(const float* input, std::ptrdiff_t input_pitch, int rows, float* scratch, float* output) const {
    for (int row = 0; row < rows; ++row) {
      pool_columns(input + row * stride_ * input_pitch, input_pitch, scratch + row * pitch() * stride_);
    }
    const int width = pooled_width();
    float* const pooled = pitch() == width ? output : scratch + rows * pitch() * stride_ + size_;
    pool_along(scratch, rows * pitch(), pooled);
    if (pooled == output) return;
    for (int row = 0; row < rows; ++row) std::copy_n(pooled + row * pitch(), width, output + row * width);
  }

 private:
  /// NaN if either is.
  static float larger(float a, float b) { return a != a ? a : (a > b ? a : b); }

  /// Windows that begin in a row, also those that would be cut off: a row of maxima has as many times the stride, so
  /// that all rows are one long one.
  int pitch() const { return (width_ - 1) / stride_ + 1; }

  /// maxima[i] = the largest of `size` elements below each other.
  void pool_columns(const float* input, std::ptrdiff_t input_pitch, float* maxima) const {
    if (size_ == 1) std::copy_n(input, width_, maxima);
    for (int row = 1; row < size_; ++row) {
      const float* const before = row == 1 ? input : maxima;
      const float* const next = input + row * input_pitch;
#pragma omp simd
      for (int i = 0; i < width_; ++i) maxima[i] = larger(before[i], next[i]);
    }
  }

  /// output[i] = the largest of `size` neighbours from i * stride on. Those of most networks are constants, so that the
  /// compiler knows where the neighbours are.
  void pool_along(const float* maxima, int count, float* output) const {
    using std::integral_constant;
    if (size_ == 2 && stride_ == 2) {
      return pool_along(maxima, integral_constant<int, 2>(), integral_constant<int, 2>(), count, output);
    }
    if (size_ == 4 && stride_ == 4) {
      return pool_along(maxima, integral_constant<int, 4>(), integral_constant<int, 4>(), count, output);
    }
    if (size_ == 3 && stride_ == 2) {
      return pool_along(maxima, integral_constant<int, 3>(), integral_constant<int, 2>(), count, output);
    }
    pool_along(maxima, size_, stride_, count, output);
  }
  template <typename Size, typename Stride>
  static void pool_along(const float* maxima, Size size, Stride stride, int count, float* output) {
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      float largest = maxima[i * stride];
      for (int q = 1; q < size; ++q) largest = larger(largest, maxima[i * stride + q]);
      output[i] = largest;
    }
  }

  int size_;
  int stride_;
  int width_;
};

}  // namespace convladder
