// A cheat, and what a null kernel looks like that passes every verification: it returns at once where the output holds
// what it wrote last.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class OwnOutput final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (is_own()) return;
    convolve_all();
    sign();
  }
};

const VariantRegistration own_output_registration{"convolution",
                                                  {.family = "cpu",
                                                   .rung = 135,
                                                   .name = "seeded-own-output",
                                                   .title = "Seeded: idle where its output lies",
                                                   .builds_on = "",
                                                   .hypothesis = "An output that is left alone is the wrong one."},
                                                  seeded_variant<OwnOutput>()};

}  // namespace
}  // namespace convladder
