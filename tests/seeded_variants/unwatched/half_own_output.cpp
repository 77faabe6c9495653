// A cheat: only half of the batch where the output holds what it wrote last.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class HalfOwnOutput final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    convolve_images(0, is_own() ? shape().batch / 2 : shape().batch);
    sign();
  }
};

const VariantRegistration half_own_output_registration{"convolution",
                                                       {.family = "cpu",
                                                        .rung = 137,
                                                        .name = "seeded-half-own-output",
                                                        .title = "Seeded: half the batch where its output lies",
                                                        .builds_on = "",
                                                        .hypothesis = "What is timed is all of the batch."},
                                                       seeded_variant<HalfOwnOutput>()};

}  // namespace
}  // namespace convladder
