// Max pooling of some rows of windows on the CPU: first down the columns, where neighbours lie side by side, then along
// all rows at once, since a single row of a small layer would be a vector or less.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace convladder {

/// Windows of size x size, `stride` apart, in rows of `width` columns; none is cut off. A NaN in a window counts as its
/// maximum.
class RowPooling {
 public:
  RowPooling(int size, int stride, int width) : size_(size), stride_(stride), width_(width) {}

  int pooled_width() const { return (width_ - size_) / stride_ + 1; }
  /// Floats of scratch memory that `pool` needs for `rows` rows of windows.
  int scratch(int rows) const { return rows * pitch() * (stride_ + 1) + size_; }

  /// Writes rows * pooled_width floats. Rows of the input are `input_pitch` floats apart, those of the output lie one
  /// behind the other. The scratch memory has been written before, if only with zeros.
  void pool(const float* input, std::ptrdiff_t input_pitch, int rows, float* scratch, float* output) const {
    const int width = pooled_width();
    float* const pooled = pitch() == width ? output : scratch + rows * pitch() * stride_ + size_;
    if (size_ == 2 && stride_ == 2) {
      pool_pairs(input, input_pitch, rows, scratch, pooled);
    } else {
      for (int row = 0; row < rows; ++row) {
        pool_columns(input + row * stride_ * input_pitch, input_pitch, scratch + row * pitch() * stride_);
      }
      pool_along(scratch, rows * pitch(), pooled);
    }
    if (pooled == output) return;
    for (int row = 0; row < rows; ++row) std::copy_n(pooled + row * pitch(), width, output + row * width);
  }

 private:
  /// The larger number, or NaN if either is NaN.
  static float larger(float a, float b) { return a != a ? a : (a > b ? a : b); }
  /// The larger number, or NaN if either is NaN: the inner choice is one instruction that passes on a NaN in b.
  static float larger_of_two(float a, float b) {
    const float found = a > b ? a : b;
    return a != a ? a : found;
  }

  /// Pools as `pool` does, for the windows of most networks: 2 x 2, side by side.
  void pool_pairs(const float* input, std::ptrdiff_t input_pitch, int rows, float* scratch, float* pooled) const {
    for (int row = 0; row < rows; ++row, input += 2 * input_pitch) {
      const float* const upper = input;
      const float* const lower = input + input_pitch;
      float* const maxima = scratch + std::ptrdiff_t{row} * pitch() * 2;
      for_each(width_, [=](int i) { maxima[i] = larger_of_two(upper[i], lower[i]); });
    }
    const int count = rows * pitch();
#pragma omp simd
    for (int i = 0; i < count; ++i) pooled[i] = larger_of_two(scratch[2 * i], scratch[2 * i + 1]);
  }

  /// Calls body(i) for every i below `count`, in runs as long as the widest vector; the last run overlaps the one
  /// before it. A row of a small layer is not much longer than a vector, and single elements at its end would take as
  /// long as the rest.
  template <typename Body>
  static void for_each(int count, const Body& body) {
    constexpr int kRun = 16;
    if (count < kRun) {
      for (int i = 0; i < count; ++i) body(i);
      return;
    }
    const int last = count - kRun;
    for (int first = 0; first < last; first += kRun) run<kRun>(first, body);
    run<kRun>(last, body);
  }
  template <int kRun, typename Body>
  static void run(int first, const Body& body) {
#pragma omp simd
    for (int i = 0; i < kRun; ++i) body(first + i);
  }

  /// Windows that begin in a row, including those that would be cut off: a row of maxima has `stride` times as many
  /// elements, so that all rows make one long row.
  int pitch() const { return (width_ - 1) / stride_ + 1; }

  /// Computes maxima[i], the largest of `size` elements below each other.
  void pool_columns(const float* input, std::ptrdiff_t input_pitch, float* maxima) const {
    if (size_ == 1) std::copy_n(input, width_, maxima);
    for (int row = 1; row < size_; ++row) {
      const float* const before = row == 1 ? input : maxima;
      const float* const next = input + row * input_pitch;
#pragma omp simd
      for (int i = 0; i < width_; ++i) maxima[i] = larger(before[i], next[i]);
    }
  }

  /// Computes output[i], the largest of `size` neighbours from i * stride on. The sizes of most networks are
  /// compile-time constants, so that the compiler knows where the neighbours are.
  void pool_along(const float* maxima, int count, float* output) const {
    using std::integral_constant;
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
