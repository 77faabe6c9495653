// How a call's input differs from the problem's own: so that no answer can be kept from one call to the next, and yet
// the float64 reference holds exactly.
#pragma once

#include <cstdint>
#include <span>

#include "variants/conv_shape.hpp"

namespace convladder {

/// Image b of the input is image (b + rotation) % batch of the problem, times `factor`; before each call one element is
/// replaced in every image, another one each time.
struct InputChange {
  int rotation = 0;
  float factor = 1;         ///< plus or minus a power of two: sums come out exactly so much larger
  std::uint64_t pokes = 0;  ///< the seed of what is replaced; 0: nothing is
  float poke_size = 1;      ///< values are between a half of it and it, of either sign
  bool whole = false;       ///< values are whole numbers

  /// Which element of every image, CHW, call number `call` finds replaced, and by what.
  std::int64_t poked_element(std::int64_t call, std::int64_t image_elements) const;
  float poked_value(std::int64_t call, int image) const;
  /// Which of the problem's images it is.
  int source(int image, int batch) const { return (image + rotation) % batch; }
};

/// Writes image `image` of the changed input, without pokes. `input` is the problem's, NCHW.
void write_changed_image(float* to, const InputChange& change, const ConvShape& shape, std::span<const float> input,
                         int image);

}  // namespace convladder
