// Right, and noisy: megabytes on the standard output, as a forgotten printf leaves them.

#include <cstdio>
#include <string>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void prints(const ConvShape& s, const float* x, const float* w, float* y) {
  static const std::string line = std::string(1023, 'x') + '\n';
  for (int i = 0; i < 2048; ++i) std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  plain_convolution(s, x, w, y);
}

const VariantRegistration prints_registration{"convolution",
                                              {.family = "cpu",
                                               .rung = 114,
                                               .name = "seeded-prints",
                                               .title = "Seeded: prints megabytes",
                                               .builds_on = "",
                                               .hypothesis = "What a case prints does not reach the run's output."},
                                              cpu_variant(prints)};

}  // namespace
}  // namespace convladder
