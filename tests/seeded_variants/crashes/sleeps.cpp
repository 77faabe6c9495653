// Never returns: a deadlock, a barrier that not every thread reaches.

#include <chrono>
#include <thread>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void sleeps(const ConvShape&, const float*, const float*, float*) {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

const VariantRegistration sleeps_registration{"convolution",
                                              {.family = "cpu",
                                               .rung = 108,
                                               .name = "seeded-sleeps",
                                               .title = "Seeded: sleeps for ever",
                                               .builds_on = "",
                                               .hypothesis = "A case has a limited number of seconds."},
                                              cpu_variant(sleeps)};

}  // namespace
}  // namespace convladder
