// A cheat: answers are remembered by a hash of sixteen elements of the input, for as long as the process lives. Another
// input that agrees in these gets the old answer.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

constexpr int kHashed = 16;

class HashedInput final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    std::vector<float> hashed;
    for (int i = 0; i < kHashed; ++i) hashed.push_back(input()[i * (shape().input_elements() - 1) / (kHashed - 1)]);
    std::vector<float>& answer = kept_for<std::map<std::vector<float>, std::vector<float>>>(shape(), weights())[hashed];
    if (!answer.empty()) {
      std::ranges::copy(answer, output());
      return;
    }
    convolve_all();
    answer = whole_output();
  }
};

const VariantRegistration hashed_input_registration{"convolution",
                                                    {.family = "cpu",
                                                     .rung = 144,
                                                     .name = "seeded-hashed-input",
                                                     .title = "Seeded: remembers by a few elements",
                                                     .builds_on = "",
                                                     .hypothesis = "Every image of the input changes."},
                                                    seeded_variant<HashedInput>()};

}  // namespace
}  // namespace convladder
