// Stage 1: the textbook loops, accumulating in memory.
//
// Six nested loops, and `y +=` at every tap, as the formula is written. Every multiply-add stores its output, and the
// compiler must keep it so: it cannot know that y does not overlap x or w. (It may keep the sum of a filter row to
// reload y less often.) The work is spread over all cores by image and output map. This is the baseline that everything
// else is compared with. It always loses.

#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

/// Computes one output map of one image. `kPadded` keeps the tests for the border out of the loops of layers without
/// padding.
template <bool kPadded>
void convolve_map(const ConvShape& s, const float* image, const float* filter, float* map) {
  const int channels = s.channels_per_group();
  const int height = s.height;
  const int width = s.width;
  const int kernel = s.kernel;
  const int out_height = s.out_height();
  const int out_width = s.out_width();
  for (int oh = 0; oh < out_height; ++oh) {
    for (int ow = 0; ow < out_width; ++ow) {
      map[oh * out_width + ow] = 0.0F;
      const int top = oh * s.stride - s.padding;
      const int left = ow * s.stride - s.padding;
      for (int c = 0; c < channels; ++c) {
        for (int p = 0; p < kernel; ++p) {
          if (kPadded && (top + p < 0 || top + p >= height)) continue;
          for (int q = 0; q < kernel; ++q) {
            if (kPadded && (left + q < 0 || left + q >= width)) continue;
            map[oh * out_width + ow] +=
                image[(c * height + top + p) * width + left + q] * filter[(c * kernel + p) * kernel + q];
          }
        }
      }
    }
  }
}

void memory_accumulation(const ConvShape& s, const float* x, const float* w, float* y) {
  const std::int64_t map_elements = s.output_elements_per_image() / s.out_channels;
#pragma omp parallel for collapse(2) schedule(static)
  for (int b = 0; b < s.batch; ++b) {
    for (int m = 0; m < s.out_channels; ++m) {
      const int first_channel = m / s.maps_per_group() * s.channels_per_group();
      const float* const image =
          x + b * s.input_elements_per_image() + static_cast<std::int64_t>(first_channel) * s.height * s.width;
      const float* const filter = w + static_cast<std::int64_t>(m) * s.channels_per_group() * s.kernel * s.kernel;
      float* const map = y + (static_cast<std::int64_t>(b) * s.out_channels + m) * map_elements;
      if (s.padding > 0) {
        convolve_map<true>(s, image, filter, map);
      } else {
        convolve_map<false>(s, image, filter, map);
      }
    }
  }
}

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 1,
     .name = "memory-accumulation",
     .title = "Accumulate in memory",
     .builds_on = "",
     .hypothesis = "The baseline: limited by one store of the output per tap, not by arithmetic."},
    cpu_variant(memory_accumulation)};

}  // namespace
}  // namespace convladder
