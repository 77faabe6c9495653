// A CPU fused variant is a class; this makes it a registered fused variant.
#pragma once

#include <memory>
#include <string>

#include "variants/fused/fused_variant.hpp"

namespace convladder {

/// A fused variant that takes any shape, unless `unsupported` says otherwise. `Ready` has
///   Ready(const FusedShape& shape, const float* weights, const float* bias)  what `prepare` does; see there
///   void run(const float* input, float* output)                              all cores used; writes every element
///   std::string choice() const                                               as PreparedOperator::choice
///   static double saved_multiplications(const FusedShape& shape)             as FusedVariant's; may be left out
template <typename Ready>
class CpuFusedVariant final : public FusedVariant {
 public:
  using Unsupported = std::string (*)(const FusedShape& shape);
  using Suits = bool (*)(const FusedShape& shape);
  /// As the functions of FusedVariant; null: it takes everything, and suits nothing.
  explicit CpuFusedVariant(Unsupported unsupported = nullptr, Suits suits = nullptr)
      : unsupported_(unsupported), suits_(suits) {}

  std::string unsupported_reason(const FusedShape& shape) const override {
    return unsupported_ == nullptr ? std::string() : unsupported_(shape);
  }
  bool suits(const FusedShape& shape) const override {
    return suits_ != nullptr && unsupported_reason(shape).empty() && suits_(shape);
  }
  double saved_multiplications(const FusedShape& shape) const override {
    if constexpr (requires { Ready::saved_multiplications(shape); }) return Ready::saved_multiplications(shape);
    return 1;
  }
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

  Unsupported unsupported_;
  Suits suits_;
};

}  // namespace convladder
