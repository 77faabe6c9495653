// A bug of state: where its output lies already, one float in the middle of the batch is off.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class OffWhenTimed final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    const bool again = is_own();
    convolve_all();
    if (again) output_of(shape().batch / 2)[1] += 1.0F;
    sign();
  }
};

const VariantRegistration off_when_timed_registration{
    "convolution",
    {.family = "cpu",
     .rung = 150,
     .name = "seeded-off-when-timed",
     .title = "Seeded: one float off where its output lies",
     .builds_on = "",
     .hypothesis = "The output of a timed call is compared unchanged."},
    seeded_variant<OffWhenTimed>()};

}  // namespace
}  // namespace convladder
