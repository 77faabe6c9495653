// A pipeline bug: the output belongs to the input of the previous call.

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class PreviousAnswer final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    if (previous_.empty()) previous_ = whole_input();
    plain_convolution(shape(), previous_.data(), weights(), output());
    previous_ = whole_input();
  }

 private:
  std::vector<float> previous_;
};

const VariantRegistration previous_answer_registration{"convolution",
                                                       {.family = "cpu",
                                                        .rung = 165,
                                                        .name = "seeded-previous-answer",
                                                        .title = "Seeded: one call late",
                                                        .builds_on = "",
                                                        .hypothesis = "An answer belongs to its own input."},
                                                       seeded_variant<PreviousAnswer>()};

}  // namespace
}  // namespace convladder
