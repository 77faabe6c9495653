// An input copied once for each column of the filter, as the stages from 09 on read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/cache_lines.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// The inputs of an output row under one column of the filter.
class ShiftedColumns {
 public:
  /// `left` is the image's column under the first of `count` outputs.
  ShiftedColumns(const ConvShape& s, int left, int count)
      : stride_(s.stride),
        count_(count),
        begin_(left >= 0 ? 0 : std::min(count_, (-left + stride_ - 1) / stride_)),
        end_(std::clamp((s.width - left + stride_ - 1) / stride_, begin_, count_)),
        left_(left) {}

  /// The first output whose input lies in the image; `end` is behind the last one.
  int begin() const { return begin_; }
  int end() const { return end_; }

  /// to[i] = row[left + i * stride], zero outside of the row.
  template <typename Set>
  [[gnu::always_inline]] void copy(const float* row, float* to) const {
    if (begin_ > 0) std::fill_n(to, begin_, 0.0F);
    if (stride_ == 1) {
      copy_neighbours<Set>(row + left_ + begin_, end_ - begin_, to + begin_);
    } else {
      for (int i = begin_; i < end_; ++i) to[i] = row[left_ + i * stride_];
    }
    if (end_ < count_) std::fill(to + end_, to + count_, 0.0F);
  }

 private:
  template <typename Set>
  [[gnu::always_inline]] static void copy_neighbours(const float* from, int count, float* to) {
    if (count < Set::lanes) {
      for (int i = 0; i < count; ++i) to[i] = from[i];
      return;
    }
    Vector<Set> last;  // overlaps the previous vector
    load_vector(last, from + count - Set::lanes);
    for (int i = 0; i + Set::lanes < count; i += Set::lanes) {
      Vector<Set> vector;
      load_vector(vector, from + i);
      store_vector(to + i, vector);
    }
    store_vector(to + count - Set::lanes, last);
  }

  int stride_;
  int count_;
  int begin_;
  int end_;
  int left_;
};

/// A block of `rows` rows of `kColumns` columns; pitches are in floats.
template <int kColumns>
[[gnu::always_inline]] inline void copy_columns(const float* from, std::ptrdiff_t from_pitch, int rows, float* to,
                                                std::ptrdiff_t to_pitch) {
  for (int row = 0; row < rows; ++row, from += from_pitch, to += to_pitch) {
    std::memcpy(to, from, kColumns * sizeof(float));
  }
}

/// The copies of a band's input: [channel][column of the filter][phase][row][output column], where a phase has every
/// `stride`-th row of the input, and its rows follow each other without a gap; two phases are `plane` floats apart. The
/// copies may serve the last output columns alone.
class ShiftedCopy {
 public:
  /// Copies for the output columns from `first` on, which is not zero only where the input has no border and the stride
  /// is 1.
  ShiftedCopy(const ConvShape& s, int first, int plane)
      : has_no_border_(s.stride == 1 && s.padding == 0),
        height_(s.height),
        width_(s.width),
        channels_(s.in_channels),
        stride_(s.stride),
        first_(first),
        out_width_(s.out_width() - first),
        plane_(plane) {
    for (int q = 0; q < s.kernel; ++q) columns_.emplace_back(s, first + q - s.padding, out_width_);
  }

  /// At most this many columns count as few: they are copied one by one.
  static constexpr int most_few_columns(int lanes) { return lanes / 2; }

  /// Copies `rows` rows of the image from row `top` on to a band's input; rows outside the image become zeros. `input`
  /// is CHW, from the image's first element on.
  //
  // A row is read once for each column of the filter, a pattern from which the processor does not predict the rows that
  // come next: they are prefetched here. Without that a third of the copies' time is spent waiting for memory.
  template <typename Set>
  [[gnu::always_inline]] void copy(int top, int rows, const float* input, float* copies) const {
    const std::int64_t channel_pitch = static_cast<std::int64_t>(columns_.size()) * stride_ * plane_;
    for (int c = 0; c < channels_; ++c, copies += channel_pitch) {
      const float* const channel = input + std::int64_t{c} * height_ * width_;
      const float* const first = channel + std::int64_t{top} * width_ + first_;
      if (has_no_border_ && out_width_ <= most_few_columns(Set::lanes)) {
        for (std::size_t q = 0; q < columns_.size(); ++q) {
          with_constant<most_few_columns(Set::lanes)>(out_width_, [&](auto columns) {
            copy_columns<columns>(first + q, width_, rows, copies + static_cast<std::int64_t>(q) * plane_, columns);
          });
        }
      } else {
        for (int row = 0; row < rows; ++row) copy_row<Set>(top + row, row, channel, copies);
      }
    }
  }

 private:
  /// Copies one row of a channel to row `of_band` of the band's input.
  template <typename Set>
  [[gnu::always_inline]] void copy_row(int row, int of_band, const float* channel, float* copies) const {
    const std::int64_t pitch = std::int64_t{stride_} * plane_;
    float* const to = copies + of_band % stride_ * plane_ + of_band / stride_ * out_width_;
    if (row < 0 || row >= height_) {
      for (std::size_t q = 0; q < columns_.size(); ++q) std::fill_n(to + static_cast<int>(q) * pitch, out_width_, 0.0F);
      return;
    }
    const float* const from = channel + std::int64_t{row} * width_;
    prefetch(from);
    if (has_no_border_ && out_width_ >= Set::lanes) return copy_neighbours<Set>(from, pitch, to);
    for (std::size_t q = 0; q < columns_.size(); ++q) columns_[q].copy<Set>(from, to + static_cast<int>(q) * pitch);
  }

  /// Copies one channel's row for the columns of the filter whose inputs are a whole run of neighbours on the image.
  template <typename Set>
  [[gnu::always_inline]] void copy_neighbours(const float* from, std::int64_t pitch, float* to) const {
    const int last = out_width_ - Set::lanes;  // overlaps the previous vector
    const float* const end = from + columns_.size();
    for (; from < end; ++from, to += pitch) {
      Vector<Set> inputs;
      for (int i = 0; i < last; i += Set::lanes) {
        load_vector(inputs, from + i);
        store_vector(to + i, inputs);
      }
      load_vector(inputs, from + last);
      store_vector(to + last, inputs);
    }
  }

  /// Prefetches the row that comes some rows after `row`.
  [[gnu::always_inline]] void prefetch(const float* row) const {
    constexpr int kRowsAhead = 10;
    for (int i = 0; i < width_; i += kLineFloats) __builtin_prefetch(row + kRowsAhead * width_ + i);
  }

  bool has_no_border_;
  int height_;
  int width_;
  int channels_;
  int stride_;
  int first_;
  int out_width_;  ///< columns that are copied
  int plane_;
  std::vector<ShiftedColumns> columns_;  ///< for each column of the filter
};

}  // namespace convladder
