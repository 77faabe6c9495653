// A loop bound of batch - 1.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void skips_last_image(const ConvShape& s, const float* x, const float* w, float* y) {
  plain_convolution(s.with_batch(s.batch - 1), x, w, y);
}

const VariantRegistration skips_last_image_registration{"convolution",
                                                        {.family = "cpu",
                                                         .rung = 104,
                                                         .name = "seeded-last-image",
                                                         .title = "Seeded: skips the last image",
                                                         .builds_on = "",
                                                         .hypothesis = "The last image of a batch is always compared."},
                                                        cpu_variant(skips_last_image)};

}  // namespace
}  // namespace convladder
