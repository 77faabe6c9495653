// Stage 2: accumulate in a register.
//
// Against stage 1 one thing changes: the sum of a pixel lives in a local variable and is stored once. That takes the
// store and the reload of every tap off the load/store unit and leaves a chain of dependent additions, one per tap,
// so the latency of an addition is the new limit. It gains little where the processor forwards a store to the next
// load for free, as recent ones do.

#include <algorithm>

#include "variants/convolution/cpu_variant.hpp"

// Left to itself the compiler multiplies whole vectors of taps and then adds their lanes one by one, to keep the order
// of the sum: slower than the plain loop, and not what this stage is about.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-vectorize")
#endif

namespace convladder {
namespace {

void local_accumulation(const ConvShape& s, const float* x, const float* w, float* y) {
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
          float sum = 0.0F;
          // The taps that fall inside the image: without padding, all of them.
          const int top = oh * s.stride - s.padding;
          const int left = ow * s.stride - s.padding;
          const int p_end = std::min(s.kernel, s.height - top);
          const int q_begin = std::max(0, -left);
          const int q_end = std::min(s.kernel, s.width - left);
          for (int c = 0; c < s.channels_per_group(); ++c) {
            for (int p = std::max(0, -top); p < p_end; ++p) {
              for (int q = q_begin; q < q_end; ++q) {
                sum += image[(c * s.height + top + p) * s.width + left + q] * filter[(c * s.kernel + p) * s.kernel + q];
              }
            }
          }
          map[oh * out_width + ow] = sum;
        }
      }
    }
  }
}

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 2,
     .name = "local-accumulation",
     .title = "Accumulate in a register",
     .builds_on = "memory-accumulation",
     .hypothesis = "One store per output instead of one per tap frees the load/store unit; additions still wait for "
                   "each other."},
    cpu_variant(local_accumulation)};

}  // namespace
}  // namespace convladder
