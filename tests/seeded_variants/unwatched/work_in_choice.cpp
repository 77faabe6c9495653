// A cheat: the convolution is done where the harness asks what was chosen, which no time has in it; calls copy.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class WorkInChoice final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  std::string choice() const override {
    plain_convolution(shape(), input(), weights(), output());
    answer_ = whole_output();
    return "the answer";
  }
  void run() override {
    if (answer_.empty()) return convolve_all();
    std::ranges::copy(answer_, output());
  }

 private:
  mutable std::vector<float> answer_;
};

const VariantRegistration work_in_choice_registration{
    "convolution",
    {.family = "cpu",
     .rung = 159,
     .name = "seeded-work-in-choice",
     .title = "Seeded: the work is done in choice",
     .builds_on = "",
     .hypothesis = "What the input is when it is asked is not what is convolved."},
    seeded_variant<WorkInChoice>()};

}  // namespace
}  // namespace convladder
