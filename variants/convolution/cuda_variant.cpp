#include "variants/convolution/cuda_variant.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "variants/convolution/registry.hpp"
#include "variants/convolution/tunable_cuda_variant.hpp"

namespace convladder {
namespace {

class PreparedCudaConv final : public PreparedConv {
 public:
  PreparedCudaConv(const ConfiguredCudaParts& parts, Device& device, const ConvShape& shape, const float* weights,
                   ConvTensors tensors)
      : device_(device), choice_(parts.choice ? parts.choice(shape) : std::string()) {
    const std::vector<float> packed = parts.pack ? parts.pack(shape, weights) : std::vector<float>();
    const std::size_t elements = parts.pack ? packed.size() : static_cast<std::size_t>(shape.weight_elements());
    weights_ = device.allocate(elements * sizeof(float), "weights");
    device.copy_to_device(weights_.address(), parts.pack ? packed.data() : weights, weights_.bytes());
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
  explicit CudaVariant(const ConfiguredCudaParts& parts) : parts_(parts) {}

  std::string unsupported_reason(const ConvShape& shape) const override {
    return parts_.unsupported ? parts_.unsupported(shape) : std::string();
  }
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    return std::make_unique<PreparedCudaConv>(parts_, device, shape, weights, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ConvShape& shape) const override { return parts_.plan(shape, {}); }
  double tolerance() const override { return parts_.tolerance; }
  bool suits(const ConvShape& /*shape*/) const override { return parts_.suits; }

 private:
  ConfiguredCudaParts parts_;
};

/// The parts with a configuration, and who wanted it in their choice's text.
ConfiguredCudaParts configured_parts(const TunableCudaParts& parts, const Configuration& wanted, ChosenBy chosen_by) {
  ConfiguredCudaParts configured = parts.parts(wanted);
  configured.choice = [choice = configured.choice, chosen_by](const ConvShape& shape) {
    return choice(shape) + chosen_by_text(chosen_by);
  };
  return configured;
}

class TunableCudaVariant final : public ConvVariant {
 public:
  explicit TunableCudaVariant(const TunableCudaParts& parts)
      : parts_(parts), by_model_(configured_parts(parts, {}, ChosenBy::model)) {}

  std::string unsupported_reason(const ConvShape& shape) const override { return by_model_.unsupported_reason(shape); }
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    return by_model_.prepare(device, shape, weights, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ConvShape& shape) const override { return by_model_.launch_plan(shape); }
  double tolerance() const override { return by_model_.tolerance(); }
  bool suits(const ConvShape& shape) const override { return by_model_.suits(shape); }

  Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most) const override {
    require_possible(shape, wanted);
    return parts_.configurations(shape, wanted, most);
  }
  std::unique_ptr<ConvVariant> configured(const ConvShape& shape, const Configuration& wanted,
                                          ChosenBy chosen_by) const override {
    require_possible(shape, wanted);
    return std::make_unique<CudaVariant>(configured_parts(parts_, wanted, chosen_by));
  }

 private:
  void require_possible(const ConvShape& shape, const Configuration& wanted) const {
    std::string reason = unsupported_reason(shape);
    if (reason.empty()) reason = parts_.impossible(shape, wanted);
    if (!reason.empty()) throw std::invalid_argument(reason);
  }

  TunableCudaParts parts_;
  CudaVariant by_model_;
};

}  // namespace

const ConvVariant& cuda_variant(const CudaVariantParts& parts) {
  const ConfiguredCudaParts configured{.plan = parts.plan,
                                       .unsupported = parts.unsupported,
                                       .pack = parts.pack,
                                       .choice = parts.choice,
                                       .workspace = parts.workspace,
                                       .tolerance = parts.tolerance,
                                       .suits = parts.suits};
  return keep_variant(std::make_unique<CudaVariant>(configured));
}

const ConvVariant& cuda_variant(LaunchPlan plan, UnsupportedReason unsupported) {
  return cuda_variant({.plan = plan, .unsupported = unsupported});
}

const ConvVariant& tunable_cuda_variant(const TunableCudaParts& parts) {
  return keep_variant(std::make_unique<TunableCudaVariant>(parts));
}

}  // namespace convladder
