// A cheat: it takes the same address for the same input, and copies what it computed from there.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class SameAddress final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    std::vector<float>& answer = kept_for<std::map<const float*, std::vector<float>>>(shape(), weights())[input()];
    if (answer.empty()) {
      convolve_all();
      answer = whole_output();
    }
    std::ranges::copy(answer, output());
  }
};

const VariantRegistration same_address_registration{"convolution",
                                                    {.family = "cpu",
                                                     .rung = 155,
                                                     .name = "seeded-same-address",
                                                     .title = "Seeded: same address, same answer",
                                                     .builds_on = "",
                                                     .hypothesis = "The input changes where it lies."},
                                                    seeded_variant<SameAddress>()};

}  // namespace
}  // namespace convladder
