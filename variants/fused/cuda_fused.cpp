#include "variants/fused/cuda_fused.hpp"

namespace convladder {
namespace {

class PreparedCudaFused final : public PreparedOperator {
 public:
  PreparedCudaFused(const CudaFusedParts& parts, Device& device, const FusedShape& shape,
                    const OperatorTensors& tensors)
      : device_(device), choice_(parts.choice(shape)) {
    const std::vector<float> packed = parts.pack(shape, tensors.weights);
    weights_ = device.allocate(packed.size() * sizeof(float), "weights");
    device.copy_to_device(weights_.address(), packed.data(), weights_.bytes());
    if (shape.has_bias) {
      bias_ = device.allocate(static_cast<std::size_t>(shape.convolution.out_channels) * sizeof(float), "bias");
      device.copy_to_device(bias_.address(), tensors.bias, bias_.bytes());
    }
    launches_ = parts.plan(shape, {tensors.input, weights_.floats(), bias_.floats(), tensors.output});
  }
  void run() override {
    for (const KernelLaunch& launch : launches_) device_.launch(launch);
  }
  std::string choice() const override { return choice_; }

 private:
  Device& device_;
  std::string choice_;
  DeviceBuffer weights_;
  DeviceBuffer bias_;
  std::vector<KernelLaunch> launches_;
};

class CudaFusedVariant final : public FusedVariant {
 public:
  explicit CudaFusedVariant(const CudaFusedParts& parts) : parts_(parts) {}

  std::string unsupported_reason(const FusedShape& shape) const override { return parts_.unsupported(shape); }
  std::unique_ptr<PreparedOperator> prepare(Device& device, const FusedShape& shape,
                                            const OperatorTensors& tensors) const override {
    return std::make_unique<PreparedCudaFused>(parts_, device, shape, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const FusedShape& shape) const override { return parts_.plan(shape, {}); }

 private:
  CudaFusedParts parts_;
};

}  // namespace

std::unique_ptr<FusedVariant> cuda_fused_variant(const CudaFusedParts& parts) {
  return std::make_unique<CudaFusedVariant>(parts);
}

}  // namespace convladder
