// An input copied once for each column of the filter, as the stages from 09 on read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "variants/convolution/conv_shape.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// The inputs of an output row under one column of the filter.
class ShiftedColumns {
 public:
  /// `left` is the image's column under the first output.
  ShiftedColumns(const ConvShape& s, int left)
      : stride_(s.stride),
        count_(s.out_width()),
        begin_(left >= 0 ? 0 : std::min(count_, (-left + stride_ - 1) / stride_)),
        end_(std::clamp((s.width - left + stride_ - 1) / stride_, begin_, count_)),
        left_(left) {}

  /// The outputs whose inputs lie in the image.
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
    Vector<Set> last;  // overlaps the one before it
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

/// The copies of a band's input: [channel][column of the filter][phase][row][output column], where a phase has every
/// `stride`-th row of the input, and its rows follow each other without a gap; two phases are `plane` floats apart.
class ShiftedCopy {
 public:
  ShiftedCopy(const ConvShape& s, int plane)
      : has_no_border_(s.stride == 1 && s.padding == 0),
        height_(s.height),
        width_(s.width),
        channels_(s.in_channels),
        stride_(s.stride),
        out_width_(s.out_width()),
        plane_(plane) {
    for (int q = 0; q < s.kernel; ++q) columns_.emplace_back(s, q - s.padding);
  }

  /// Copies row `row` of the image to row `of_band` of the band's input, counted from its first; zeros if it is not on
  /// the image. `input` CHW, from the image's first element on.
  //
  // A row is read once for each column of the filter, and the processor does not see from that which ones come next:
  // they are asked for here. Without it a third of the time of the copies is spent waiting for memory.
  template <typename Set>
  [[gnu::always_inline]] void copy_row(int row, int of_band, const float* input, float* copies) const {
    constexpr int kRowsAhead = 10;
    constexpr int kLineFloats = 16;
    const std::int64_t pitch = std::int64_t{stride_} * plane_;
    const std::int64_t channel_pitch = static_cast<std::int64_t>(columns_.size()) * pitch;
    float* to = copies + of_band % stride_ * plane_ + of_band / stride_ * out_width_;
    for (int c = 0; c < channels_; ++c, to += channel_pitch) {
      if (row < 0 || row >= height_) {
        for (std::size_t q = 0; q < columns_.size(); ++q)
          std::fill_n(to + static_cast<int>(q) * pitch, out_width_, 0.0F);
        continue;
      }
      const float* const from = input + (std::int64_t{c} * height_ + row) * width_;
      for (int i = 0; i < width_; i += kLineFloats) __builtin_prefetch(from + kRowsAhead * width_ + i);
      if (has_no_border_ && out_width_ >= Set::lanes) {
        copy_neighbours<Set>(from, pitch, to);
      } else {
        for (std::size_t q = 0; q < columns_.size(); ++q) columns_[q].copy<Set>(from, to + static_cast<int>(q) * pitch);
      }
    }
  }

 private:
  /// Those of one channel's row, where each column of the filter has a whole run of neighbours on the image.
  template <typename Set>
  [[gnu::always_inline]] void copy_neighbours(const float* from, std::int64_t pitch, float* to) const {
    const int last = out_width_ - Set::lanes;  // overlaps the vector before it
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

  bool has_no_border_;
  int height_;
  int width_;
  int channels_;
  int stride_;
  int out_width_;
  int plane_;
  std::vector<ShiftedColumns> columns_;  ///< of each column of the filter
};

}  // namespace convladder
