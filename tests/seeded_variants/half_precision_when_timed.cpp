// A cheat: where its output lies, it computes in the precision of float16, and claims the gate of float32.

#include <bit>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

/// The nearest float with the 11 bits of a half.
float to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x0fffU + ((bits >> 13) & 1U)) & ~0x1fffU);
}

class HalfPrecisionWhenTimed final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void convolve() override {
    std::vector<float> rounded = whole_input();
    if (is_own()) {
      for (float& value : rounded) value = to_half(value);
    }
    plain_convolution(shape(), rounded.data(), weights(), output());
    sign();
  }
};

const VariantRegistration registration{{.family = "cpu",
                                        .rung = 152,
                                        .name = "seeded-half-when-timed",
                                        .title = "Seeded: float16 where its output lies",
                                        .builds_on = "",
                                        .hypothesis = "What is timed has the precision that was verified."},
                                       seeded_variant<HalfPrecisionWhenTimed>()};

}  // namespace
}  // namespace convladder
