#include "variants/reference.hpp"

#include <algorithm>
#include <cmath>

namespace convladder {
namespace {

/// One output map of one image, row by row: sums[ow] += x * w over the taps that fall inside the image.
template <typename Store>
void convolve_map(const ConvShape& s, int m, const float* input, const float* weights, bool with_magnitude,
                  const Store& store) {
  const int first_channel = m / s.maps_per_group() * s.channels_per_group();
  std::vector<double> sums(static_cast<std::size_t>(s.out_width()));
  std::vector<double> magnitudes(sums.size());
  for (int oh = 0; oh < s.out_height(); ++oh) {
    std::ranges::fill(sums, 0.0);
    std::ranges::fill(magnitudes, 0.0);
    for (int c = 0; c < s.channels_per_group(); ++c) {
      for (int p = 0; p < s.kernel; ++p) {
        const int ih = oh * s.stride + p - s.padding;
        if (ih < 0 || ih >= s.height) continue;
        const float* const row = input + (static_cast<std::int64_t>(first_channel + c) * s.height + ih) * s.width;
        for (int q = 0; q < s.kernel; ++q) {
          const double w =
              weights[((static_cast<std::int64_t>(m) * s.channels_per_group() + c) * s.kernel + p) * s.kernel + q];
          // Output columns whose tap q lies inside the row.
          const int left = q - s.padding;
          const int begin = left >= 0 ? 0 : (-left + s.stride - 1) / s.stride;
          const int end = left >= s.width ? 0 : std::min(s.out_width(), (s.width - 1 - left) / s.stride + 1);
          for (int ow = begin; ow < end; ++ow) sums[ow] += w * row[ow * s.stride + left];
          if (!with_magnitude) continue;
          for (int ow = begin; ow < end; ++ow) magnitudes[ow] += std::abs(w * row[ow * s.stride + left]);
        }
      }
    }
    for (int ow = 0; ow < s.out_width(); ++ow) store(oh * s.out_width() + ow, sums[ow], magnitudes[ow]);
  }
}

}  // namespace

ReferenceOutput reference_convolution(const ConvShape& shape, const float* input, const float* weights) {
  const auto elements = static_cast<std::size_t>(shape.output_elements_per_image());
  const std::size_t map_elements = elements / shape.out_channels;
  ReferenceOutput output{std::vector<double>(elements), std::vector<double>(elements)};
#pragma omp parallel for schedule(dynamic)
  for (int m = 0; m < shape.out_channels; ++m) {
    convolve_map(shape, m, input, weights, true, [&](int pixel, double sum, double magnitude) {
      output.value[m * map_elements + pixel] = sum;
      output.magnitude[m * map_elements + pixel] = magnitude;
    });
  }
  return output;
}

void reference_forward(const ConvShape& shape, int count, const float* input, const float* weights, float* output) {
  const std::int64_t map_elements = shape.output_elements_per_image() / shape.out_channels;
#pragma omp parallel for collapse(2) schedule(static)
  for (int image = 0; image < count; ++image) {
    for (int m = 0; m < shape.out_channels; ++m) {
      float* const map = output + image * shape.output_elements_per_image() + m * map_elements;
      convolve_map(shape, m, input + image * shape.input_elements_per_image(), weights, false,
                   [map](int pixel, double sum, double) { map[pixel] = static_cast<float>(sum); });
    }
  }
}

}  // namespace convladder
