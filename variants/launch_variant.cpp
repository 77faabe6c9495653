#include "variants/launch_variant.hpp"

#include <utility>

#include "devices/kernel_resources.hpp"
#include "variants/device_constants.hpp"
#include "variants/launch_limits.hpp"

namespace convladder {
namespace {

class PreparedLaunches final : public PreparedVariant {
 public:
  PreparedLaunches(VariantLaunches launches, Device& device, const ProblemSize& size, const ProblemTensors& tensors)
      : device_(device),
        constants_(device, size, tensors),
        launches_(launches(size, {tensors.input, constants_.addresses(), tensors.output})) {}
  void run() override {
    for (const KernelLaunch& launch : launches_) device_.launch(launch);
  }
  std::string choice() const override { return kernel_display_names(launches_); }

 private:
  Device& device_;
  DeviceConstants constants_;
  std::vector<KernelLaunch> launches_;
};

class LaunchVariant final : public Variant {
 public:
  LaunchVariant(VariantLaunches launches, double tolerance, std::string (*unsupported)(const ProblemSize& size))
      : launches_(launches), tolerance_(tolerance), unsupported_(unsupported) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    std::string reason = unsupported_ == nullptr ? std::string() : unsupported_(size);
    if (!reason.empty()) return reason;
    for (const KernelLaunch& launch : launch_plan(size)) {
      if (reason = grid_error(launch.grid); !reason.empty()) break;
    }
    return reason;
  }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedLaunches>(launches_, device, size, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    const std::vector<const float*> none(size.problem->constants(size).size(), nullptr);
    return launches_(size, {nullptr, none, nullptr});
  }
  double tolerance() const override { return tolerance_; }

 private:
  VariantLaunches launches_;
  double tolerance_;
  std::string (*unsupported_)(const ProblemSize& size);
};

}  // namespace

std::unique_ptr<Variant> launch_variant(VariantLaunches launches, double tolerance,
                                        std::string (*unsupported)(const ProblemSize& size)) {
  return std::make_unique<LaunchVariant>(launches, tolerance, unsupported);
}

}  // namespace convladder
