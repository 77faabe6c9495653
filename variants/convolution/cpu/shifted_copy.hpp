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

/// A vector of neighbouring inputs and its place in the copies: floats from the image's and from the copies' beginning.
struct CopiedVector {
  int from;
  int to;
};

/// The copies of a whole image as vectors of `lanes` floats. They leave out what lies outside of the image, which stays
/// zero in the copies. Empty where not every run of inputs fills a vector: there it goes row by row.
inline std::vector<CopiedVector> copied_vectors(const ConvShape& s, int plane, int lanes) {
  std::vector<CopiedVector> vectors;
  if (s.stride != 1) return vectors;
  for (int plane_of = 0; plane_of < s.in_channels * s.kernel; ++plane_of) {
    const int left = plane_of % s.kernel - s.padding;
    const ShiftedColumns columns(s, left);
    const int last = columns.end() - lanes;  // overlaps the one before it
    if (last < columns.begin()) return {};
    for (int row = 0; row < s.height; ++row) {
      const int from = (plane_of / s.kernel * s.height + row) * s.width + left;
      const int to = plane_of * plane + (row + s.padding) * s.out_width();
      for (int i = columns.begin(); i < last; i += lanes) vectors.push_back({from + i, to + i});
      vectors.push_back({from + last, to + last});
    }
  }
  return vectors;
}

/// Writes the copies of the output rows `first_row` to `first_row + rows - 1` of one image row by row:
/// [channel][column of the filter][phase][row][output column], where a phase has every `stride`-th row of the input,
/// and its rows follow each other without a gap. `input` CHW, from the image's first element on; two phases are `plane`
/// floats apart.
template <typename Set>
[[gnu::always_inline]] inline void copy_rows(const ConvShape& s, int first_row, int rows, int plane, const float* input,
                                             float* copies) {
  const int top = first_row * s.stride - s.padding;
  const int end = top + (rows - 1) * s.stride + s.kernel;
  for (int c = 0; c < s.in_channels; ++c) {
    const float* const channel = input + std::int64_t{c} * s.height * s.width;
    for (int q = 0; q < s.kernel; ++q) {
      const ShiftedColumns columns(s, q - s.padding);
      for (int phase = 0; phase < s.stride; ++phase) {
        float* to = copies + ((std::int64_t{c} * s.kernel + q) * s.stride + phase) * plane;
        for (int row = top + phase; row < end; row += s.stride, to += s.out_width()) {
          if (row < 0 || row >= s.height) {
            std::fill_n(to, s.out_width(), 0.0F);
          } else {
            columns.copy<Set>(channel + std::int64_t{row} * s.width, to);
          }
        }
      }
    }
  }
}

/// The same for a whole image of `copied_vectors`.
template <typename Set>
[[gnu::always_inline]] inline void copy_vectors(const std::vector<CopiedVector>& vectors, const float* input,
                                                float* copies) {
  for (const CopiedVector& one : vectors) {
    Vector<Set> inputs;
    load_vector(inputs, input + one.from);
    store_vector(copies + one.to, inputs);
  }
}

}  // namespace convladder
