// The last column of every row is computed one pixel too far to the left.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void border_off_by_one(const ConvShape& s, const float* x, const float* w, float* y) {
  plain_convolution(s, x, w, y);
  const int last = s.out_width() - 1;
  for (std::int64_t row = 0; row < s.output_elements() / s.out_width(); ++row) {
    y[row * s.out_width() + last] = y[row * s.out_width() + last - 1];
  }
}

const VariantRegistration border_off_by_one_registration{"convolution",
                                                         {.family = "cpu",
                                                          .rung = 103,
                                                          .name = "seeded-border",
                                                          .title = "Seeded: off by one at the border",
                                                          .builds_on = "",
                                                          .hypothesis = "The last column is found."},
                                                         cpu_variant(border_off_by_one)};

}  // namespace
}  // namespace convladder
