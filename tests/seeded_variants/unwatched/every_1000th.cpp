// A cheat: where its output lies, only every 1000th call does anything.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class Every1000th final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (++calls_ % 1000 != 0 && is_own()) return;
    convolve_all();
    sign();
  }

 private:
  int calls_ = 0;
};

const VariantRegistration every_1000th_registration{"convolution",
                                                    {.family = "cpu",
                                                     .rung = 146,
                                                     .name = "seeded-every-1000th",
                                                     .title = "Seeded: every 1000th call",
                                                     .builds_on = "",
                                                     .hypothesis = "A sample is looked at whichever call is its last."},
                                                    seeded_variant<Every1000th>()};

}  // namespace
}  // namespace convladder
