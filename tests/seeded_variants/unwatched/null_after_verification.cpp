// A cheat: it works at its first call, and where the output has a NaN; otherwise it does nothing at all. The trial's
// null variant, with its 1,981,040 GFLOP/s.

#include <cmath>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class NullAfterVerification final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (called_ && !std::isnan(last_output())) return;
    convolve_all();
    called_ = true;
  }

 private:
  bool called_ = false;
};

const VariantRegistration null_after_verification_registration{"convolution",
                                                               {.family = "cpu",
                                                                .rung = 143,
                                                                .name = "seeded-null-after-verification",
                                                                .title = "Seeded: null after the verification",
                                                                .builds_on = "",
                                                                .hypothesis = "No layer takes no time."},
                                                               seeded_variant<NullAfterVerification>()};

}  // namespace
}  // namespace convladder
