// The convolution by its definition, for variants that are wrong in one way only.
#pragma once

#include <cstdint>

#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// One output element. `image` is CHW, `filter` is the output map's own, [channel][kernel][kernel].
inline float plain_pixel(const ConvShape& s, const float* image, const float* filter, int first_channel, int top,
                         int left) {
  float sum = 0.0F;
  for (int c = 0; c < s.channels_per_group(); ++c) {
    for (int p = 0; p < s.kernel; ++p) {
      for (int q = 0; q < s.kernel; ++q) {
        const int row = top + p;
        const int column = left + q;
        if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
        sum += image[(static_cast<std::int64_t>(first_channel + c) * s.height + row) * s.width + column] *
               filter[(c * s.kernel + p) * s.kernel + q];
      }
    }
  }
  return sum;
}

/// All images, right: NCHW input and output, OIHW weights.
inline void plain_convolution(const ConvShape& s, const float* x, const float* w, float* y) {
  for (int b = 0; b < s.batch; ++b) {
    const float* const image = x + b * s.input_elements_per_image();
    for (int m = 0; m < s.out_channels; ++m) {
      const int first_channel = m / s.maps_per_group() * s.channels_per_group();
      const float* const filter = w + static_cast<std::int64_t>(m) * s.channels_per_group() * s.kernel * s.kernel;
      for (int oh = 0; oh < s.out_height(); ++oh) {
        for (int ow = 0; ow < s.out_width(); ++ow) {
          *y++ = plain_pixel(s, image, filter, first_channel, oh * s.stride - s.padding, ow * s.stride - s.padding);
        }
      }
    }
  }
}

}  // namespace convladder
