#include "variants/cuda_variant.hpp"

namespace convladder {
namespace {

class PreparedCudaConv final : public PreparedConv {
 public:
  PreparedCudaConv(const CudaVariantParts& parts, Device& device, const ConvShape& shape, const float* weights,
                   ConvTensors tensors)
      : device_(device), choice_(parts.choice == nullptr ? std::string() : parts.choice(shape)) {
    const std::vector<float> packed = parts.pack == nullptr ? std::vector<float>() : parts.pack(shape, weights);
    const std::size_t elements =
        parts.pack == nullptr ? static_cast<std::size_t>(shape.weight_elements()) : packed.size();
    weights_ = device.allocate(elements * sizeof(float), "weights");
    device.copy_to_device(weights_.address(), parts.pack == nullptr ? weights : packed.data(), weights_.bytes());
    if (parts.workspace != nullptr) workspace_ = device.allocate(parts.workspace(shape), "workspace");
    launches_ = parts.plan(shape, {tensors.input, weights_.floats(), tensors.output, workspace_.floats()});
  }
  void convolve() override {
    for (const KernelLaunch& launch : launches_) device_.launch(launch);
  }
  std::string choice() const override { return choice_; }

 private:
  Device& device_;
  std::string choice_;
  DeviceBuffer weights_;
  DeviceBuffer workspace_;
  std::vector<KernelLaunch> launches_;
};

class CudaVariant final : public ConvVariant {
 public:
  explicit CudaVariant(const CudaVariantParts& parts) : parts_(parts) {}

  std::string unsupported_reason(const ConvShape& shape) const override {
    return parts_.unsupported == nullptr ? std::string() : parts_.unsupported(shape);
  }
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    return std::make_unique<PreparedCudaConv>(parts_, device, shape, weights, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ConvShape& shape) const override { return parts_.plan(shape, {}); }
  double tolerance() const override { return parts_.tolerance; }

 private:
  CudaVariantParts parts_;
};

}  // namespace

std::unique_ptr<ConvVariant> cuda_variant(const CudaVariantParts& parts) {
  return std::make_unique<CudaVariant>(parts);
}

std::unique_ptr<ConvVariant> cuda_variant(LaunchPlan plan, UnsupportedReason unsupported) {
  CudaVariantParts parts;
  parts.plan = plan;
  parts.unsupported = unsupported;
  return cuda_variant(parts);
}

}  // namespace convladder
