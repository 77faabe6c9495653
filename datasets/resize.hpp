// Bilinear resize, which turns the data sets' 28x28 images into the inputs of larger networks.
#pragma once

#include <cstdint>

namespace convladder {

/// Writes `image` (height x width grey pixels, row by row) to `out` (out_height x out_width floats, row by row). The
/// values stay raw, 0..255: nothing is normalised, and nothing is rounded to whole numbers. All sizes are at least 1.
///
/// Pixels have their centre at half: output row r samples the image at row
///     y = (r + 0.5) * height / out_height - 0.5
/// clamped to 0 .. height - 1, and interpolates the two rows around y by distance; columns in the same way. This is
/// OpenCV's INTER_LINEAR and PyTorch's interpolate (mode "bilinear", align_corners false, antialias false). Shrinking
/// therefore samples, it does not average. The same size gives an exact copy.
void resize_bilinear(const std::uint8_t* image, int height, int width, float* out, int out_height, int out_width);

}  // namespace convladder
