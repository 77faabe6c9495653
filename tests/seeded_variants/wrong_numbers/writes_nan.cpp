// One element is not a number: a comparison written as 'error > tolerance' would let it pass.

#include <limits>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void writes_nan(const ConvShape& s, const float* x, const float* w, float* y) {
  plain_convolution(s, x, w, y);
  y[s.out_width() + 1] = std::numeric_limits<float>::quiet_NaN();
}

const VariantRegistration writes_nan_registration{"convolution",
                                                  {.family = "cpu",
                                                   .rung = 102,
                                                   .name = "seeded-nan",
                                                   .title = "Seeded: writes a NaN",
                                                   .builds_on = "",
                                                   .hypothesis = "One NaN is found, wherever it is."},
                                                  cpu_variant(writes_nan)};

}  // namespace
}  // namespace convladder
