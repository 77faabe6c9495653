// Returns at once: what a launch that never happened looks like.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void null_kernel(const ConvShape&, const float*, const float*, float*) {}

const VariantRegistration null_kernel_registration{"convolution",
                                                   {.family = "cpu",
                                                    .rung = 101,
                                                    .name = "seeded-null",
                                                    .title = "Seeded: null kernel",
                                                    .builds_on = "",
                                                    .hypothesis = "Nothing is done, so nothing is faster."},
                                                   cpu_variant(null_kernel)};

}  // namespace
}  // namespace convladder
