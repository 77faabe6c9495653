#include "variants/function_variant.hpp"

#include <utility>

#include "variants/device_constants.hpp"

namespace convladder {
namespace {

class PreparedFunction final : public PreparedVariant {
 public:
  PreparedFunction(VariantFunction function, Device& device, const ProblemSize& size, const ProblemTensors& tensors)
      : function_(function), size_(size), constants_(device, tensors) {}
  void run() override { function_(size_, constants_.tensors()); }

 private:
  VariantFunction function_;
  ProblemSize size_;
  DeviceConstants constants_;
};

class FunctionVariant final : public Variant {
 public:
  FunctionVariant(VariantFunction function, double tolerance, UnsupportedSize unsupported)
      : function_(function), tolerance_(tolerance), unsupported_(unsupported) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    return unsupported_ == nullptr ? std::string() : unsupported_(size);
  }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedFunction>(function_, device, size, tensors);
  }
  double tolerance() const override { return tolerance_; }

 private:
  VariantFunction function_;
  double tolerance_;
  UnsupportedSize unsupported_;
};

}  // namespace

std::unique_ptr<Variant> function_variant(VariantFunction function, double tolerance, UnsupportedSize unsupported) {
  return std::make_unique<FunctionVariant>(function, tolerance, unsupported);
}

}  // namespace convladder
