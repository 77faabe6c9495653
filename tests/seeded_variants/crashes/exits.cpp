// Ends the process as if all were well.

#include <cstdlib>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void exits(const ConvShape&, const float*, const float*, float*) { std::exit(0); }

const VariantRegistration exits_registration{"convolution",
                                             {.family = "cpu",
                                              .rung = 111,
                                              .name = "seeded-exits",
                                              .title = "Seeded: calls exit(0)",
                                              .builds_on = "",
                                              .hypothesis = "An exit code of 0 is no result."},
                                             cpu_variant(exits)};

}  // namespace
}  // namespace convladder
