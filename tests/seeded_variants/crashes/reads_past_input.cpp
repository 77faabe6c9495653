// Reads behind the end of the input, as a load without a bound does; on most machines that would go unnoticed.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void reads_past_input(const ConvShape& s, const float* x, const float* w, float* y) {
  plain_convolution(s, x, w, y);
  const volatile float* const end = x + s.input_elements();
  for (int i = 0; i < 32; ++i) y[0] += 0.0F * end[i];
}

const VariantRegistration reads_past_input_registration{"convolution",
                                                        {.family = "cpu",
                                                         .rung = 106,
                                                         .name = "seeded-past-input",
                                                         .title = "Seeded: reads past the input",
                                                         .builds_on = "",
                                                         .hypothesis = "The page behind a tensor cannot be read."},
                                                        cpu_variant(reads_past_input)};

}  // namespace
}  // namespace convladder
