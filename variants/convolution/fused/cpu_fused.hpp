// Turns a class into a registered CPU fused variant.
#pragma once

#include <memory>
#include <string>

#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/convolution/fused/problem.hpp"

namespace convladder {

/// A fused variant that takes any shape, unless `unsupported` says otherwise. `Ready` has
///   Ready(const FusedShape& shape, const float* weights, const float* bias)  what `prepare` does: OIHW; null without
///   void run(const float* input, float* output)                              all cores used; writes every element
///   std::string choice() const                                               as PreparedVariant::choice
///   static double saved_operations(const FusedShape& shape)                  as Variant's; may be left out
template <typename Ready>
class CpuFusedVariant final : public Variant {
 public:
  using Unsupported = std::string (*)(const FusedShape& shape);
  using Suits = bool (*)(const FusedShape& shape);
  /// Both mean the same as Variant's functions; null: the variant takes every shape, and suits none.
  explicit CpuFusedVariant(Unsupported unsupported = nullptr, Suits suits = nullptr)
      : unsupported_(unsupported), suits_(suits) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    return unsupported_ == nullptr ? std::string() : unsupported_(fused_shape(size));
  }
  bool suits(const ProblemSize& size) const override {
    return suits_ != nullptr && unsupported_reason(size).empty() && suits_(fused_shape(size));
  }
  double saved_operations(const ProblemSize& size) const override {
    if constexpr (requires { Ready::saved_operations(fused_shape(size)); }) {
      return Ready::saved_operations(fused_shape(size));
    }
    return 1;
  }
  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<Prepared>(fused_shape(size), tensors);
  }

 private:
  class Prepared final : public PreparedVariant {
   public:
    Prepared(const FusedShape& shape, const ProblemTensors& tensors)
        : ready_(shape, tensors.constant(), shape.has_bias ? tensors.constant(1) : nullptr),
          input_(tensors.input()),
          output_(tensors.output()) {}
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

/// Makes the variant, which lives as long as the program.
template <typename Ready>
const Variant& cpu_fused_variant(typename CpuFusedVariant<Ready>::Unsupported unsupported = nullptr,
                                 typename CpuFusedVariant<Ready>::Suits suits = nullptr) {
  return keep_variant(std::make_unique<CpuFusedVariant<Ready>>(unsupported, suits));
}

}  // namespace convladder
