// The output is right, and so is one element behind it, which is not the variant's to write.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void writes_past_output(const ConvShape& s, const float* x, const float* w, float* y) {
  plain_convolution(s, x, w, y);
  y[s.output_elements()] = 0.0F;
}

const VariantRegistration writes_past_output_registration{"convolution",
                                                          {.family = "cpu",
                                                           .rung = 107,
                                                           .name = "seeded-past-output",
                                                           .title = "Seeded: writes past the output",
                                                           .builds_on = "",
                                                           .hypothesis = "A write behind the output is found."},
                                                          cpu_variant(writes_past_output)};

}  // namespace
}  // namespace convladder
