// A bug: negative inputs count as none, as if a ReLU had always been before.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class NegativeInputs final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    std::vector<float> clipped = whole_input();
    for (float& value : clipped) value = std::max(value, 0.0F);
    plain_convolution(shape(), clipped.data(), weights(), output());
  }
};

const VariantRegistration negative_inputs_registration{"convolution",
                                                       {.family = "cpu",
                                                        .rung = 169,
                                                        .name = "seeded-negative-inputs",
                                                        .title = "Seeded: no negative inputs",
                                                        .builds_on = "",
                                                        .hypothesis = "Some inputs are negative."},
                                                       seeded_variant<NegativeInputs>()};

}  // namespace
}  // namespace convladder
