// Right when it is first looked at, wrong from its 10th call on: a buffer that fills up, a flag that is never reset.
// Only a second look after the timing sees it.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

constexpr int kRightCalls = 9;

class WrongLater final : public PreparedVariant {
 public:
  WrongLater(const ConvShape& shape, const float* weights, ConvTensors tensors)
      : shape_(shape), weights_(weights, weights + shape.weight_elements()), tensors_(tensors) {}
  void run() override {
    plain_convolution(shape_, tensors_.input, weights_.data(), tensors_.output);
    if (++calls_ > kRightCalls) tensors_.output[0] += 1.0F;
  }

 private:
  ConvShape shape_;
  std::vector<float> weights_;
  ConvTensors tensors_;
  int calls_ = 0;
};

class WrongLaterVariant final : public Variant {
 public:
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<WrongLater>(conv_shape(size), tensors.constant(),
                                        ConvTensors{tensors.input(), tensors.output()});
  }
};

const VariantRegistration wrong_later_registration{"convolution",
                                                   {.family = "cpu",
                                                    .rung = 113,
                                                    .name = "seeded-wrong-later",
                                                    .title = "Seeded: wrong from its 10th call on",
                                                    .builds_on = "",
                                                    .hypothesis = "It is looked at again after the timing."},
                                                   keep_variant(std::make_unique<WrongLaterVariant>())};

}  // namespace
}  // namespace convladder
