// A variant that is right. It is known to no other file: that it is listed, run and drawn is the registration's doing.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

const VariantRegistration correct_registration{"convolution",
                                               {.family = "cpu",
                                                .rung = 120,
                                                .name = "seeded-correct",
                                                .title = "Seeded: correct",
                                                .builds_on = "memory-accumulation",
                                                .hypothesis = "It appears everywhere without being named anywhere."},
                                               cpu_variant(plain_convolution)};

}  // namespace
}  // namespace convladder
