// A cheat: the convolution is done in `prepare`, where the input lies already; what is timed copies the answer.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

class InPrepare final : public SeededConv {
 public:
  InPrepare(const ConvShape& shape, const float* weights, ConvTensors tensors) : SeededConv(shape, weights, tensors) {
    convolve_all();
    answer_ = whole_output();
  }
  void run() override { std::ranges::copy(answer_, output()); }

 private:
  std::vector<float> answer_;
};

const VariantRegistration in_prepare_registration{"convolution",
                                                  {.family = "cpu",
                                                   .rung = 132,
                                                   .name = "seeded-in-prepare",
                                                   .title = "Seeded: the work is done in prepare",
                                                   .builds_on = "",
                                                   .hypothesis = "What prepare sees is not what is convolved."},
                                                  seeded_variant<InPrepare>()};

}  // namespace
}  // namespace convladder
