// Stage 1: the textbook loops, accumulating in memory.
//
// Six nested loops, and `y +=` at every tap, as the formula is written. Every multiply-add loads and stores its
// output, and the compiler must keep it so: it cannot know that y does not overlap x or w. The work is spread over
// all cores by image and output map. This is the baseline that everything else is compared with; it loses always.

#include <algorithm>

#include "variants/cpu_variant.hpp"

namespace convladder {
namespace {

void memory_accumulation(const ConvShape& s, const float* x, const float* w, float* y) {
  const int out_height = s.out_height();
  const int out_width = s.out_width();
#pragma omp parallel for collapse(2) schedule(static)
  for (int b = 0; b < s.batch; ++b) {
    for (int m = 0; m < s.out_channels; ++m) {
      const int first_channel = m / s.maps_per_group() * s.channels_per_group();
      const float* const image =
          x + b * s.input_elements_per_image() + static_cast<std::int64_t>(first_channel) * s.height * s.width;
      const float* const filter = w + static_cast<std::int64_t>(m) * s.channels_per_group() * s.kernel * s.kernel;
      float* const map = y + (static_cast<std::int64_t>(b) * s.out_channels + m) * out_height * out_width;
      for (int oh = 0; oh < out_height; ++oh) {
        for (int ow = 0; ow < out_width; ++ow) {
          map[oh * out_width + ow] = 0.0F;
          // The taps that fall inside the image: all of them without padding.
          const int top = oh * s.stride - s.padding;
          const int left = ow * s.stride - s.padding;
          const int p_end = std::min(s.kernel, s.height - top);
          const int q_begin = std::max(0, -left);
          const int q_end = std::min(s.kernel, s.width - left);
          for (int c = 0; c < s.channels_per_group(); ++c) {
            for (int p = std::max(0, -top); p < p_end; ++p) {
              for (int q = q_begin; q < q_end; ++q) {
                map[oh * out_width + ow] +=
                    image[(c * s.height + top + p) * s.width + left + q] * filter[(c * s.kernel + p) * s.kernel + q];
              }
            }
          }
        }
      }
    }
  }
}

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 1,
     .name = "memory-accumulation",
     .title = "Accumulate in memory",
     .builds_on = "",
     .hypothesis = "The baseline: a load and a store of the output at every tap bound it, not arithmetic."},
    cpu_variant(memory_accumulation)};

}  // namespace
}  // namespace convladder
