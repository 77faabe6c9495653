// Throws what no one expects of a convolution.

#include <stdexcept>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void throws(const ConvShape&, const float*, const float*, float*) {
  throw std::runtime_error("no room for the tile\nin the cache");
}

const VariantRegistration throws_registration{"convolution",
                                              {.family = "cpu",
                                               .rung = 112,
                                               .name = "seeded-throws",
                                               .title = "Seeded: throws",
                                               .builds_on = "",
                                               .hypothesis = "The message is the reason."},
                                              cpu_variant(throws)};

}  // namespace
}  // namespace convladder
