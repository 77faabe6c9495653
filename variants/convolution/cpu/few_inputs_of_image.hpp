// Outputs with few inputs that count (few_inputs.hpp), found in an image as it lies in NCHW.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "variants/convolution/cpu/few_inputs.hpp"

namespace convladder {

/// The square roots of one image's inputs: their sum and the largest, for each pixel and for the pixels under each row
/// of a window. Threads may do rows at the same time.
class FewInputsOfImage {
 public:
  explicit FewInputsOfImage(const ConvShape& s)
      : shape_(s),
        wanted_(enough_inputs(s)),
        columns_(s.width + 2 * s.padding),
        rows_(s.height + 2 * s.padding),
        pixels_(std::size_t{2} * static_cast<std::size_t>(s.groups) * static_cast<std::size_t>(rows_) *
                static_cast<std::size_t>(columns_)),
        windows_(std::size_t{2} * static_cast<std::size_t>(s.groups) * static_cast<std::size_t>(rows_) *
                 static_cast<std::size_t>(s.out_width())) {
    const float zero = root(0.0F);  // the root of an input in the padding
    for (int row = 0; row < s.groups * rows_; ++row) {
      std::fill_n(sums_of_pixels(row), columns_, static_cast<float>(s.channels_per_group()) * zero);
      std::fill_n(largest_of_pixels(row), columns_, zero);
    }
  }

  /// Adds up one row of a group's channels, padding included; `image` is CHW. Inlined, for whatever instruction set its
  /// caller is compiled for.
  [[gnu::always_inline]] void add_up_row(int group, int padded_row, const float* image) {
    const int row = group * rows_ + padded_row;
    const int image_row = padded_row - shape_.padding;
    if (image_row >= 0 && image_row < shape_.height) add_up_pixels(row, group, image_row, image);
    const float* const sums = sums_of_pixels(row);
    const float* const largest = largest_of_pixels(row);
    float* const window_sums = sums_of_windows(row);
    float* const window_largest = largest_of_windows(row);
    for (int column = 0; column < shape_.out_width(); ++column) {
      float sum = 0;
      float most = 0;
      for (int q = 0; q < shape_.kernel; ++q) {
        sum += sums[column * shape_.stride + q];
        most = std::max(most, largest[column * shape_.stride + q]);
      }
      window_sums[column] = sum;
      window_largest[column] = most;
    }
  }

  /// Appends to `found` the outputs with few inputs that count among `rows` output rows from `first_row` on, each as
  /// row * out_width + column with rows counted from `first_row`.
  void find(int group, int first_row, int rows, std::vector<int>& found) const {
    for (int row = 0; row < rows; ++row) {
      const int first = group * rows_ + (first_row + row) * shape_.stride;
      for (int column = 0; column < shape_.out_width(); ++column) {
        float sum = 0;
        float most = 0;
        for (int p = 0; p < shape_.kernel; ++p) {
          sum += sums_of_windows(first + p)[column];
          most = std::max(most, largest_of_windows(first + p)[column]);
        }
        if (!(sum >= most * wanted_)) found.push_back(row * shape_.out_width() + column);
      }
    }
  }

 private:
  static float root(float x) {
    auto bits = std::bit_cast<std::int32_t>(x);
    take_rough_root(bits);
    return std::bit_cast<float>(bits);
  }

  [[gnu::always_inline]] void add_up_pixels(int row, int group, int image_row, const float* image) {
    float* const sums = sums_of_pixels(row) + shape_.padding;
    float* const largest = largest_of_pixels(row) + shape_.padding;
    std::fill_n(sums, shape_.width, 0.0F);
    std::fill_n(largest, shape_.width, 0.0F);
    for (int c = 0; c < shape_.channels_per_group(); ++c) {
      const std::int64_t channel = std::int64_t{group} * shape_.channels_per_group() + c;
      const float* const from = image + (channel * shape_.height + image_row) * shape_.width;
#pragma omp simd
      for (int i = 0; i < shape_.width; ++i) {
        const float x = root(from[i]);
        sums[i] += x;
        largest[i] = x > largest[i] ? x : largest[i];
      }
    }
  }

  template <typename Floats>
  static auto* row_of(Floats& floats, int row, int width, int which) {
    return floats.data() + (std::ptrdiff_t{row} * 2 + which) * width;
  }
  float* sums_of_pixels(int row) { return row_of(pixels_, row, columns_, 0); }
  float* largest_of_pixels(int row) { return row_of(pixels_, row, columns_, 1); }
  float* sums_of_windows(int row) { return row_of(windows_, row, shape_.out_width(), 0); }
  float* largest_of_windows(int row) { return row_of(windows_, row, shape_.out_width(), 1); }
  const float* sums_of_windows(int row) const { return row_of(windows_, row, shape_.out_width(), 0); }
  const float* largest_of_windows(int row) const { return row_of(windows_, row, shape_.out_width(), 1); }

  ConvShape shape_;
  float wanted_;
  int columns_;
  int rows_;
  std::vector<float> pixels_;   ///< [group and row][sum, largest][column]
  std::vector<float> windows_;  ///< [group and row][sum, largest][output column]
};

}  // namespace convladder
