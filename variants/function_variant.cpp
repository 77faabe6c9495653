#include "variants/function_variant.hpp"

#include <utility>

#include "variants/variant.hpp"

namespace convladder {
namespace {

class PreparedFunction final : public PreparedVariant {
 public:
  PreparedFunction(const FunctionParts& parts, Device& device, const ProblemSize& size, const ProblemTensors& tensors)
      : constants_(device, tensors), call_(parts.ready(size, constants_.tensors())) {}
  void run() override { call_(); }

 private:
  DeviceConstants constants_;
  ReadyCall call_;
};

class FunctionVariant final : public Variant {
 public:
  explicit FunctionVariant(FunctionParts parts) : parts_(std::move(parts)) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    return parts_.unsupported ? parts_.unsupported(size) : std::string();
  }
  bool suits(const ProblemSize& /*size*/) const override { return parts_.suits; }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedFunction>(parts_, device, size, tensors);
  }
  double tolerance() const override { return parts_.tolerance; }

 private:
  FunctionParts parts_;
};

}  // namespace

const Variant& function_variant(FunctionParts parts) {
  return keep_variant(std::make_unique<FunctionVariant>(std::move(parts)));
}

const Variant& function_variant(VariantFunction function, double tolerance, UnsupportedSize unsupported) {
  return function_variant(
      {.ready = [function](const ProblemSize& size,
                           const ProblemTensors& tensors) { return [=] { function(size, tensors); }; },
       .tolerance = tolerance,
       .unsupported = unsupported});
}

}  // namespace convladder
