// A CPU variant is a function over NCHW arrays; this makes it a registered variant.
#pragma once

#include <memory>
#include <string>

#include "variants/registry.hpp"

namespace convladder {

/// The convolution: `input` NCHW, `weights` OIHW, `output` NCHW, all cores used. Writes every output element.
using CpuConvolution = void (*)(const ConvShape& shape, const float* input, const float* weights, float* output);
/// Empty if the shape can be run, otherwise why not.
using UnsupportedReason = std::string (*)(const ConvShape& shape);

/// Wraps a function into a variant that keeps its own copy of the weights.
std::unique_ptr<ConvVariant> cpu_variant(CpuConvolution convolution, UnsupportedReason unsupported = nullptr);

/// A variant that makes something ready in `prepare`: packed weights, workspaces. `Ready` has
///   Ready(const ConvShape& shape, const float* weights)     what `prepare` does; weights OIHW
///   void convolve(const float* input, float* output)        as CpuConvolution
///   std::string choice() const                              as PreparedConv::choice
template <typename Ready>
class PreparingCpuVariant final : public ConvVariant {
 public:
  explicit PreparingCpuVariant(UnsupportedReason unsupported = nullptr) : unsupported_(unsupported) {}

  std::string unsupported_reason(const ConvShape& shape) const override {
    return unsupported_ == nullptr ? std::string() : unsupported_(shape);
  }
  std::unique_ptr<PreparedConv> prepare(Device& /*device*/, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    return std::make_unique<Prepared>(shape, weights, tensors);
  }

 private:
  class Prepared final : public PreparedConv {
   public:
    Prepared(const ConvShape& shape, const float* weights, ConvTensors tensors)
        : ready_(shape, weights), tensors_(tensors) {}
    void convolve() override { ready_.convolve(tensors_.input, tensors_.output); }
    std::string choice() const override { return ready_.choice(); }

   private:
    Ready ready_;
    ConvTensors tensors_;
  };

  UnsupportedReason unsupported_;
};

}  // namespace convladder
