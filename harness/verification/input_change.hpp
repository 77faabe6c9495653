// How a call's input differs from the problem's own: so that no answer can be kept from one call to the next, and yet
// the float64 reference holds exactly.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "variants/convolution/conv_shape.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// A batch of inputs as changes see it: images of channels, rows and columns.
struct InputLayout {
  int batch = 1;
  int channels = 1;
  int height = 1;
  int width = 1;
  int window = 1;  ///< rows and columns of the input that an output comes from, at least

  /// An item that is no image is a single row.
  explicit InputLayout(const ProblemSize& size);
  InputLayout(const ConvShape& shape);  // NOLINT(google-explicit-constructor): a shape has one layout
  std::int64_t elements_per_image() const { return std::int64_t{channels} * height * width; }
};

/// The elements of every image that a call finds replaced: of one channel those in a grid.
struct PokedElements {
  int channel = 0;
  int first_row = 0;
  int first_column = 0;
  int step = 1;  ///< between rows, and between columns

  /// Calls `visit` with the row, the column and the element's number in its image, CHW.
  template <typename Visit>
  void for_each(const InputLayout& shape, const Visit& visit) const {
    for (int row = first_row; row < shape.height; row += step) {
      for (int column = first_column; column < shape.width; column += step) {
        visit(row, column, (std::int64_t{channel} * shape.height + row) * shape.width + column);
      }
    }
  }
};

/// Image b of the input is image (b + rotation) % batch of the problem, times `factor`; before each call elements are
/// replaced in every image, other ones each time.
struct InputChange {
  int rotation = 0;
  float factor = 1;         ///< plus or minus a power of two: sums come out exactly so much larger
  std::uint64_t pokes = 0;  ///< the seed of what is replaced; 0: nothing is
  /// Whether half of the calls get so many that every output has one in its window, but for borders; the others one.
  /// Who only looks at a part of the input does not see the one; who computes only what has changed has all to compute.
  bool everywhere = false;
  std::array<std::int64_t, 2> looked_at{};  ///< calls whose output may be looked at: these get one
  float poke_size = 1;                      ///< values are between a half of it and it, of either sign
  bool whole = false;                       ///< values are whole numbers

  /// What call number `call` finds replaced, and by what: the same value in all of an image's elements.
  PokedElements poked(std::int64_t call, const InputLayout& shape) const;
  float poked_value(std::int64_t call, int image) const;
  /// Which of the problem's images it is.
  int source(int image, int batch) const { return (image + rotation) % batch; }
};

/// Writes image `image` of the changed input, without pokes. `input` is the problem's, NCHW.
void write_changed_image(float* to, const InputChange& change, const InputLayout& shape, std::span<const float> input,
                         int image);
/// Puts the pokes of call number `call` into an image, or takes them out again.
void poke_image(float* to, const InputChange& change, const InputLayout& shape, int image, std::int64_t call);
void unpoke_image(float* to, const InputChange& change, const InputLayout& shape, std::span<const float> input,
                  int image, std::int64_t call);

}  // namespace convladder
