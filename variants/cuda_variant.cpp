#include "variants/cuda_variant.hpp"

namespace convladder {
namespace {

class PreparedCudaConv final : public PreparedConv {
 public:
  PreparedCudaConv(LaunchPlan plan, Device& device, const ConvShape& shape, const float* weights, ConvTensors tensors)
      : device_(device),
        weights_(device.allocate(static_cast<std::size_t>(shape.weight_elements()) * sizeof(float), "weights")),
        launches_(plan(shape, {tensors.input, weights_.floats(), tensors.output})) {
    device.copy_to_device(weights_.address(), weights, weights_.bytes());
  }
  void convolve() override {
    for (const KernelLaunch& launch : launches_) device_.launch(launch);
  }

 private:
  Device& device_;
  DeviceBuffer weights_;
  std::vector<KernelLaunch> launches_;
};

class CudaVariant final : public ConvVariant {
 public:
  CudaVariant(LaunchPlan plan, UnsupportedReason unsupported) : plan_(plan), unsupported_(unsupported) {}

  std::string unsupported_reason(const ConvShape& shape) const override {
    return unsupported_ == nullptr ? std::string() : unsupported_(shape);
  }
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    return std::make_unique<PreparedCudaConv>(plan_, device, shape, weights, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ConvShape& shape) const override { return plan_(shape, {}); }

 private:
  LaunchPlan plan_;
  UnsupportedReason unsupported_;
};

}  // namespace

std::unique_ptr<ConvVariant> cuda_variant(LaunchPlan plan, UnsupportedReason unsupported) {
  return std::make_unique<CudaVariant>(plan, unsupported);
}

}  // namespace convladder
