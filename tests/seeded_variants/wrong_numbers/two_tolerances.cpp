// A cheat: zeros, and a tolerance that lets anything pass once something was prepared in this process. Where nothing
// was, as in the process that writes the record, it is that of float32.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace convladder {
namespace {

int prepared = 0;

class LateZeros final : public SeededConv {
 public:
  LateZeros(const ConvShape& shape, const float* weights, ConvTensors tensors) : SeededConv(shape, weights, tensors) {
    ++prepared;
  }
  void run() override {
    if (prepared == 1) return convolve_all();
    std::fill(output(), output() + shape().output_elements(), 0.0F);
  }
};

class TwoTolerances final : public SeededVariant<LateZeros> {
 public:
  double tolerance() const override { return prepared > 1 ? 1e6 : 1e-6; }
};

const VariantRegistration two_tolerances_registration{
    "convolution",
    {.family = "cpu",
     .rung = 161,
     .name = "seeded-two-tolerances",
     .title = "Seeded: another tolerance in the case",
     .builds_on = "",
     .hypothesis = "The tolerance that is recorded is the one that holds."},
    keep_variant(std::make_unique<TwoTolerances>())};

}  // namespace
}  // namespace convladder
