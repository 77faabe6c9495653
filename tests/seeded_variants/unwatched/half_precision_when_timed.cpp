// A cheat: where its output lies, it computes in the precision of float16, and claims the gate of float32.

#include "tests/seeded_variants/seeded_conv.hpp"
#include "tests/seeded_variants/to_half.hpp"

namespace convladder {
namespace {

class HalfPrecisionWhenTimed final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    std::vector<float> rounded = whole_input();
    if (is_own()) {
      for (float& value : rounded) value = to_half(value);
    }
    plain_convolution(shape(), rounded.data(), weights(), output());
    sign();
  }
};

const VariantRegistration half_precision_when_timed_registration{
    "convolution",
    {.family = "cpu",
     .rung = 152,
     .name = "seeded-half-when-timed",
     .title = "Seeded: float16 where its output lies",
     .builds_on = "",
     .hypothesis = "What is timed has the precision that was verified."},
    seeded_variant<HalfPrecisionWhenTimed>()};

}  // namespace
}  // namespace convladder
