// A CPU fused variant is a class; this makes it a registered fused variant.
#pragma once

#include <memory>
#include <string>

#include "variants/fused/fused_variant.hpp"

namespace convladder {

/// A fused variant that takes any shape. `Ready` has
///   Ready(const FusedShape& shape, const float* weights, const float* bias)  what `prepare` does; see there
///   void run(const float* input, float* output)                              all cores used; writes every element
///   std::string choice() const                                               as PreparedOperator::choice
template <typename Ready>
class CpuFusedVariant final : public FusedVariant {
 public:
  std::string unsupported_reason(const FusedShape& /*shape*/) const override { return {}; }
  std::unique_ptr<PreparedOperator> prepare(Device& /*device*/, const FusedShape& shape,
                                            const OperatorTensors& tensors) const override {
    return std::make_unique<Prepared>(shape, tensors);
  }

 private:
  class Prepared final : public PreparedOperator {
   public:
    Prepared(const FusedShape& shape, const OperatorTensors& tensors)
        : ready_(shape, tensors.weights, tensors.bias), input_(tensors.input), output_(tensors.output) {}
    void run() override { ready_.run(input_, output_); }
    std::string choice() const override { return ready_.choice(); }

   private:
    Ready ready_;
    const float* input_;
    float* output_;
  };
};

}  // namespace convladder
