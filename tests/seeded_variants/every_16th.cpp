// A cheat: where its output lies, only every 16th call does anything.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class Every16th final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void convolve() override {
    if (++calls_ % 16 != 0 && is_own()) return;
    convolve_all();
    sign();
  }

 private:
  int calls_ = 0;
};

const VariantRegistration registration{{.family = "cpu",
                                        .rung = 146,
                                        .name = "seeded-every-16th",
                                        .title = "Seeded: every 16th call",
                                        .builds_on = "",
                                        .hypothesis = "A sample is looked at whichever call is its last."},
                                       seeded_variant<Every16th>()};

}  // namespace
}  // namespace convladder
