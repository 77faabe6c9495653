// A piece of one image, copied so that the loops over it need no bounds checks. Stages 03 and up share it.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// The input of all channels that a band of output rows needs, with padding as zeros.
///
/// With `phases` = 1 rows and columns lie as in the image. With `phases` = stride, pixel (row, column) goes to plane
/// (row % stride, column % stride) at (row / stride, column / stride): then the inputs of neighbouring outputs are
/// neighbours for any stride, and one flat index runs over all outputs of the band with unit stride.
class InputTile {
 public:
  /// Floats readable behind the last pixel, so that whole vectors may be loaded at the end.
  static constexpr int kSlack = 256;

  /// A tile of all channels with as many output rows as fit into the second-level cache.
  InputTile(const ConvShape& shape, int phases) : InputTile(shape, phases, rows_that_fit(shape), shape.in_channels) {}

  /// A tile of `rows` output rows and `channels` channels.
  InputTile(const ConvShape& shape, int phases, int rows, int channels)
      : shape_(&shape), phases_(phases), rows_(rows), channels_(channels) {
    const int in_rows = (rows_ - 1) * shape.stride + shape.kernel;
    const int in_columns = (shape.out_width() - 1) * shape.stride + shape.kernel;
    plane_rows_ = (in_rows + phases - 1) / phases;
    pitch_ = (in_columns + phases - 1) / phases;
    plane_ = plane_rows_ * pitch_;
    channel_ = plane_ * phases * phases;
    pixels_.resize(static_cast<std::size_t>(channel_) * channels + kSlack);
  }

  /// Output rows that a full tile serves.
  int rows() const { return rows_; }
  /// Tiles that cover one image's output.
  int count() const { return (shape_->out_height() + rows_ - 1) / rows_; }
  /// Floats between vertically neighbouring pixels of a plane.
  int pitch() const { return pitch_; }

  /// Offset of filter tap (p, q) of channel c from the pixel of the output at (0, 0) of the tile.
  int tap_offset(int c, int p, int q) const {
    return c * channel_ + ((p % phases_) * phases_ + q % phases_) * plane_ + (p / phases_) * pitch_ + q / phases_;
  }
  /// The offsets of all taps of the first `channels` channels, in the order of the weights.
  std::vector<int> tap_offsets(int channels) const {
    std::vector<int> offsets;
    for (int c = 0; c < channels; ++c) {
      for (int p = 0; p < shape_->kernel; ++p) {
        for (int q = 0; q < shape_->kernel; ++q) offsets.push_back(tap_offset(c, p, q));
      }
    }
    return offsets;
  }
  /// Floats of one phase of one channel.
  int plane() const { return plane_; }
  const float* pixels() const { return pixels_.data(); }

  /// Copies the input of all channels that the output rows from `first_row` on need from one image (CHW).
  void load(const float* image, int first_row) { load(image, first_row, channels_); }
  /// Copies the input that the output rows from `first_row` on need from the first `channels` channels at `image`.
  void load(const float* image, int first_row, int channels) {
    const ConvShape& s = *shape_;
    const int top = first_row * s.stride - s.padding;
    for (int column_phase = 0; column_phase < phases_; ++column_phase) {
      const int left = column_phase - s.padding;  // the image's column at the beginning of a row of the tile
      const int begin = left >= 0 ? 0 : std::min(pitch_, (-left + phases_ - 1) / phases_);
      const int end = std::max(begin, std::min(pitch_, (s.width - left + phases_ - 1) / phases_));
      for (int c = 0; c < channels; ++c) {
        for (int row_phase = 0; row_phase < phases_; ++row_phase) {
          float* to = pixels_.data() + c * channel_ + (row_phase * phases_ + column_phase) * plane_;
          for (int plane_row = 0; plane_row < plane_rows_; ++plane_row, to += pitch_) {
            const int row = top + plane_row * phases_ + row_phase;
            if (row < 0 || row >= s.height) {
              std::fill(to, to + pitch_, 0.0F);
              continue;
            }
            for (int column = 0; column < begin; ++column) to[column] = 0.0F;
            copy_columns(image + (static_cast<std::int64_t>(c) * s.height + row) * s.width, left, begin, end, to);
            for (int column = end; column < pitch_; ++column) to[column] = 0.0F;
          }
        }
      }
    }
  }

 private:
  // A quarter of a common 1 MiB second-level cache: the filters and the output stream through the rest.
  static constexpr int kTileFloats = 256 * 1024 / 4;

  static int rows_that_fit(const ConvShape& s) {
    const std::int64_t row_floats = std::int64_t{s.in_channels} * (s.width + 2 * s.padding);
    const std::int64_t in_rows = kTileFloats / row_floats;
    return static_cast<int>(std::clamp<std::int64_t>((in_rows - s.kernel) / s.stride + 1, 1, s.out_height()));
  }

  /// to[column] = from[column * phases + left] for the columns from `begin` to before `end`, with common strides as
  /// constants.
  void copy_columns(const float* from, int left, int begin, int end, float* to) const {
    const auto copy = [&](auto phases) {
      for (int column = begin; column < end; ++column) to[column] = from[column * phases + left];
    };
    switch (phases_) {
      case 1:
        return copy(std::integral_constant<int, 1>{});
      case 2:
        return copy(std::integral_constant<int, 2>{});
      case 4:
        return copy(std::integral_constant<int, 4>{});
      default:
        copy(phases_);
    }
  }

  const ConvShape* shape_;
  int phases_;
  int rows_;
  int channels_;
  int plane_rows_ = 0;
  int pitch_ = 0;
  int plane_ = 0;
  int channel_ = 0;
  std::vector<float> pixels_;
};

/// Cuts every image's output into bands of rows and calls body(tile, image, first_row, rows) for each, over all cores,
/// with the band's input loaded. `phases` as in InputTile.
template <typename Body>
void for_each_tile(const ConvShape& shape, const float* input, int phases, const Body& body) {
#pragma omp parallel
  {
    InputTile tile(shape, phases);
#pragma omp for collapse(2) schedule(static)
    for (int image = 0; image < shape.batch; ++image) {
      for (int band = 0; band < tile.count(); ++band) {
        const int first_row = band * tile.rows();
        tile.load(input + image * shape.input_elements_per_image(), first_row);
        body(tile, image, first_row, std::min(tile.rows(), shape.out_height() - first_row));
      }
    }
  }
}

}  // namespace convladder
