// Strips of images side by side, one in each lane of a vector: how a batch is cut into them, and their inputs.
//
// A strip is a run of whole output rows of one image. Neighbouring strips belong to the same rows of neighbouring
// images, so that with whole groups of images all lanes do the same; a batch that is no multiple of the lanes has
// groups of strips of two kinds, and only the very last group may have idle lanes.
#pragma once

#include <algorithm>
#include <vector>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/lane_transpose.hpp"

namespace convladder {

/// A run of output rows of one image.
struct Strip {
  int image;
  int first_row;
  int rows;
};

/// How windows of `size` rows, `stride` apart, turn a layer's output rows into the rows that are written. Without
/// pooling each row is a window.
struct RowWindows {
  int count;
  int size = 1;
  int stride = 1;

  /// Output rows under that many windows.
  int rows(int windows) const { return (windows - 1) * stride + size; }
};

/// A batch cut into strips of the output rows of `at_once` windows; the last strip of an image may have fewer. Strips
/// share rows where windows overlap.
class Strips {
 public:
  Strips(const ConvShape& shape, int rows) : Strips(shape.batch, {.count = shape.out_height()}, rows) {}
  Strips(int batch, const RowWindows& windows, int at_once)
      : batch_(batch), windows_(windows), at_once_(at_once), bands_((windows.count + at_once - 1) / at_once) {}

  int rows() const { return windows_.rows(at_once_); }
  std::int64_t count() const { return std::int64_t{batch_} * bands_; }
  Strip operator[](std::int64_t i) const {
    const int first = static_cast<int>(i / batch_) * at_once_;
    return {static_cast<int>(i % batch_), first * windows_.stride,
            windows_.rows(std::min(at_once_, windows_.count - first))};
  }

 private:
  int batch_;
  RowWindows windows_;
  int at_once_;
  int bands_;
};

/// A group of as many strips as there are lanes. A lane for which there is none repeats the first strip, without output
/// rows.
template <typename Set>
struct StripGroup {
  Strip strips[Set::lanes];
  int rows = 0;          ///< rows of the longest strip
  bool in_step = false;  ///< whether all strips begin at the same row

  StripGroup(const Strips& all, std::int64_t first) : in_step(true) {
    for (int lane = 0; lane < Set::lanes; ++lane) {
      strips[lane] = first + lane < all.count() ? all[first + lane] : Strip{strips[0].image, strips[0].first_row, 0};
      rows = std::max(rows, strips[lane].rows);
      in_step = in_step && strips[lane].first_row == strips[0].first_row;
    }
  }
};

/// The inputs of a group of strips: [channel][row][column][lane], padding as zeros. Channels are an odd number of
/// vectors apart, so that equal pixels of neighbouring channels fall into different sets of a cache.
class LaneTile {
 public:
  /// A tile of `rows` input rows of `channels` channels; `columns` is the input's width with its padding, or more.
  LaneTile(const ConvShape& shape, int lanes, int channels, int rows, int columns)
      : shape_(shape),
        channels_(channels),
        pitch_(columns),
        plane_((rows * columns) | 1),
        vectors_(std::int64_t{plane_} * channels * lanes),
        row_of_zeros_(shape.width) {
    for (int pixel = 0; pixel < std::min(rows, shape.height) * shape.width; ++pixel) {
      places_.push_back((pixel / shape.width * pitch_ + shape.padding + pixel % shape.width) * lanes);
    }
  }

  const float* vectors() const { return vectors_.data(); }
  /// Vectors from one row to the next; `plane` counts them from one channel to the next.
  int pitch() const { return pitch_; }
  int plane() const { return plane_; }

  /// Fills it from the first input row of each strip and from channel `first_channel` on, `rows` rows; rows below the
  /// image become zeros. `input` is NCHW.
  template <typename Set>
  [[gnu::always_inline]] void load(const float* input, int first_channel, const StripGroup<Set>& group, int rows) {
    const float* images[Set::lanes];
    for (int c = 0; c < channels_; ++c) {
      const std::int64_t channel = std::int64_t{first_channel + c} * shape_.height * shape_.width;
      for (int lane = 0; lane < Set::lanes; ++lane) {
        images[lane] = input + group.strips[lane].image * shape_.input_elements_per_image() + channel;
      }
      float* const to = vectors_.data() + std::int64_t{c} * plane_ * Set::lanes;
      if (group.in_step) {
        load_rows_in_step<Set>(images, top(group.strips[0]), rows, to);
      } else {
        for (int row = 0; row < rows; ++row) load_row<Set>(images, group, row, to + row * pitch_ * Set::lanes);
      }
    }
  }

 private:
  int top(const Strip& strip) const { return strip.first_row * shape_.stride - shape_.padding; }

  /// Fills `rows` rows of a channel, from the image's row `top` on, the same rows in all lanes.
  template <typename Set>
  void load_rows_in_step(const float* const (&images)[Set::lanes], int top, int rows, float* to) const {
    const int begin = std::clamp(-top, 0, rows);
    const int end = std::clamp(shape_.height - top, begin, rows);
    const int row_floats = pitch_ * Set::lanes;
    std::fill(to, to + begin * row_floats, 0.0F);
    std::fill(to + end * row_floats, to + rows * row_floats, 0.0F);
    const float* runs[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) {
      runs[lane] = images[lane] + (begin < end ? std::int64_t{top + begin} * shape_.width : 0);
    }
    float* const first = to + begin * row_floats;
    const int* const places = places_.data();
    interleave<Set>(runs, (end - begin) * shape_.width, [&](int pixel) { return first + places[pixel]; });
  }

  /// Fills one row of a channel, from a different row of the image in each lane.
  template <typename Set>
  void load_row(const float* const (&images)[Set::lanes], const StripGroup<Set>& group, int row, float* to) const {
    float* const first = to + shape_.padding * Set::lanes;
    const float* runs[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) {
      const int image_row = top(group.strips[lane]) + row;
      const bool inside = image_row >= 0 && image_row < shape_.height;
      runs[lane] = inside ? images[lane] + std::int64_t{image_row} * shape_.width : row_of_zeros_.data();
    }
    interleave<Set>(runs, shape_.width, [&](int column) { return first + column * Set::lanes; });
  }

  ConvShape shape_;
  int channels_;
  int pitch_;
  int plane_;
  AlignedFloats vectors_;
  AlignedFloats row_of_zeros_;  ///< for lanes whose strip ends at the image's border
  std::vector<int> places_;     ///< places of the pixels of whole rows of the image, in floats
};

/// Transposes one map's outputs, [row of the strips][column][lane], into the NCHW output; `map` counts in all groups.
/// With `past_caches` it uses streaming stores where the strips begin at the same place in a line.
template <typename Set>
[[gnu::always_inline]] inline void store_strips(const ConvShape& s, const StripGroup<Set>& group, int map,
                                                const float* vectors, bool past_caches, float* output) {
  const int count = group.rows * s.out_width();
  float* runs[Set::lanes];
  int lengths[Set::lanes];
  bool alike = Set::lanes == kLineFloats;
  for (int lane = 0; lane < Set::lanes; ++lane) {
    const Strip& strip = group.strips[lane];
    runs[lane] = output + ((std::int64_t{strip.image} * s.out_channels + map) * s.out_height() + strip.first_row) *
                              s.out_width();
    lengths[lane] = strip.rows * s.out_width();
    alike = alike && lengths[lane] == count && floats_to_line(runs[lane]) == floats_to_line(runs[0]);
  }
  if (past_caches && alike) {
    deinterleave_streaming<Set>(vectors, count, runs);
  } else {
    deinterleave<Set>(vectors, count, runs, lengths);
  }
}

/// Stores a map's outputs, [row of the strips][column][lane], in the NCHW output, as the stages do.
struct StoreStrips {
  const ConvShape& shape;
  bool past_caches;
  float* output;

  template <typename Set>
  [[gnu::always_inline]] void store(const StripGroup<Set>& group, int map, const float* vectors) const {
    store_strips<Set>(shape, group, map, vectors, past_caches, output);
  }
};

}  // namespace convladder
