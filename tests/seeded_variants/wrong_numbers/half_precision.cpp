// A cheat: it rounds its input to the precision of float16, and claims the gate of float32.

#include "tests/seeded_variants/seeded_conv.hpp"
#include "tests/seeded_variants/to_half.hpp"

namespace convladder {
namespace {

class HalfPrecision final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    std::vector<float> rounded = whole_input();
    for (float& value : rounded) value = to_half(value);
    plain_convolution(shape(), rounded.data(), weights(), output());
  }
};

const VariantRegistration half_precision_registration{
    "convolution",
    {.family = "cpu",
     .rung = 151,
     .name = "seeded-half-precision",
     .title = "Seeded: float16 that claims float32",
     .builds_on = "",
     .hypothesis = "A claimed tolerance of 1e-6 is checked on every element."},
    seeded_variant<HalfPrecision>()};

}  // namespace
}  // namespace convladder
