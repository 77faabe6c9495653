// A bug: inputs above 4 count as 4, as in arithmetic that saturates.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class Saturates final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    std::vector<float> clipped = whole_input();
    for (float& value : clipped) value = std::min(value, 4.0F);
    plain_convolution(shape(), clipped.data(), weights(), output());
  }
};

const VariantRegistration saturates_registration{"convolution",
                                                 {.family = "cpu",
                                                  .rung = 168,
                                                  .name = "seeded-saturates",
                                                  .title = "Seeded: large inputs saturate",
                                                  .builds_on = "",
                                                  .hypothesis = "Some inputs are large."},
                                                 seeded_variant<Saturates>()};

}  // namespace
}  // namespace convladder
