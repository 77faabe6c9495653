// Writes through a null pointer.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void segfaults(const ConvShape&, const float*, const float*, float*) {
  volatile float* volatile nowhere = nullptr;
  *nowhere = 1.0F;
}

const VariantRegistration segfaults_registration{"convolution",
                                                 {.family = "cpu",
                                                  .rung = 110,
                                                  .name = "seeded-segfaults",
                                                  .title = "Seeded: follows a null pointer",
                                                  .builds_on = "",
                                                  .hypothesis = "Nothing but the case dies."},
                                                 cpu_variant(segfaults)};

}  // namespace
}  // namespace convladder
