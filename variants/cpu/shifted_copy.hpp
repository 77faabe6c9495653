// A band of an input copied once for each column of the filter, as the stages from 09 on read it: all at once, or some
// rows at a time while other work goes on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "variants/conv_shape.hpp"
#include "variants/cpu/vector_lanes.hpp"

namespace convladder {

/// The inputs of an output row under one column of the filter.
class ShiftedColumns {
 public:
  ShiftedColumns() = default;
  /// `left` is the image's column under the first output.
  ShiftedColumns(const ConvShape& s, int left)
      : stride_(s.stride),
        count_(s.out_width()),
        begin_(left >= 0 ? 0 : std::min(count_, (-left + stride_ - 1) / stride_)),
        end_(std::clamp((s.width - left + stride_ - 1) / stride_, begin_, count_)),
        left_(left) {}

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

  int stride_ = 1;
  int count_ = 0;
  int begin_ = 0;
  int end_ = 0;
  int left_ = 0;
};

/// The copies of one band in the making: [channel][column of the filter][phase][row][output column], where a phase has
/// every `stride`-th row of the input, and its rows follow each other without a gap.
class ShiftedCopy {
 public:
  /// Nothing to copy.
  ShiftedCopy() = default;

  /// The copies of the output rows `first_row` to `first_row + rows - 1` of one image: `input` CHW. Two phases are
  /// `plane` floats apart in `to`.
  ShiftedCopy(const ConvShape& s, int first_row, int rows, int plane, const float* input, float* to)
      : shape_(s),
        top_(first_row * s.stride - s.padding),
        end_row_(top_ + (rows - 1) * s.stride + s.kernel),
        out_width_(s.out_width()),
        plane_(plane),
        channel_(input),
        end_channel_(input + s.input_elements_per_image()),
        phase_to_(to) {
    begin_phase();
  }

  /// Copies the next `rows` rows, or what is left.
  template <typename Set>
  [[gnu::always_inline]] void advance(int rows) {
    while (rows > 0 && channel_ != end_channel_) {
      const int count = std::min(rows, (end_row_ - row_ + shape_.stride - 1) / shape_.stride);
      copy_rows<Set>(count);
      rows -= count;
      row_ += count * shape_.stride;
      to_ += std::ptrdiff_t{count} * out_width_;
      if (row_ >= end_row_) next_phase();
    }
  }

  /// Copies what is left.
  template <typename Set>
  [[gnu::always_inline]] void finish() {
    while (channel_ != end_channel_) advance<Set>(kRowsAtOnce);
  }

 private:
  static constexpr int kRowsAtOnce = 64;

  /// The next `count` rows, all of one phase.
  template <typename Set>
  [[gnu::always_inline]] void copy_rows(int count) const {
    const float* row = channel_ + std::int64_t{row_} * shape_.width;
    float* to = to_;
    for (int i = 0; i < count; ++i) {
      const int image_row = row_ + i * shape_.stride;
      if (image_row < 0 || image_row >= shape_.height) {
        std::fill_n(to, out_width_, 0.0F);
      } else {
        columns_.copy<Set>(row, to);
      }
      row += std::int64_t{shape_.stride} * shape_.width;
      to += out_width_;
    }
  }

  void begin_phase() {
    if (phase_ == 0) columns_ = ShiftedColumns(shape_, column_ - shape_.padding);
    row_ = top_ + phase_;
    to_ = phase_to_;
  }

  /// A stride beyond the kernel has phases without rows.
  void next_phase() {
    do {
      phase_to_ += plane_;
      if (++phase_ == shape_.stride) {
        phase_ = 0;
        if (++column_ == shape_.kernel) {
          column_ = 0;
          channel_ += std::int64_t{shape_.height} * shape_.width;
        }
      }
      begin_phase();
    } while (row_ >= end_row_ && channel_ != end_channel_);
  }

  ConvShape shape_;
  int top_ = 0;      ///< the band's first row in the image
  int end_row_ = 0;  ///< the one after its last
  int out_width_ = 0;
  int plane_ = 0;
  const float* channel_ = nullptr;
  const float* end_channel_ = nullptr;
  int column_ = 0;
  int phase_ = 0;
  int row_ = 0;  ///< of the image, the next
  ShiftedColumns columns_;
  float* phase_to_ = nullptr;
  float* to_ = nullptr;
};

}  // namespace convladder
