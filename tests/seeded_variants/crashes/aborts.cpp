// A failed assertion.

#include <cstdio>
#include <cstdlib>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void aborts(const ConvShape&, const float*, const float*, float*) {
  std::fputs("first line\nassertion 'tile fits' failed\n", stderr);
  std::abort();
}

const VariantRegistration aborts_registration{"convolution",
                                              {.family = "cpu",
                                               .rung = 109,
                                               .name = "seeded-aborts",
                                               .title = "Seeded: aborts",
                                               .builds_on = "",
                                               .hypothesis = "Its last words are in the record."},
                                              cpu_variant(aborts)};

}  // namespace
}  // namespace convladder
