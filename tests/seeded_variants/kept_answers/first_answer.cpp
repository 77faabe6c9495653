// A cheat: the first answer is kept for as long as the process lives, and copied from then on.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class FirstAnswer final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    auto& answer = kept_for<std::vector<float>>(shape(), weights());
    if (!answer.empty()) {
      std::ranges::copy(answer, output());
      return;
    }
    convolve_all();
    answer = whole_output();
  }
};

const VariantRegistration first_answer_registration{"convolution",
                                                    {.family = "cpu",
                                                     .rung = 133,
                                                     .name = "seeded-first-answer",
                                                     .title = "Seeded: the first answer is kept",
                                                     .builds_on = "",
                                                     .hypothesis = "The input changes."},
                                                    seeded_variant<FirstAnswer>()};

}  // namespace
}  // namespace convladder
