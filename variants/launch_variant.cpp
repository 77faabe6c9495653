#include "variants/launch_variant.hpp"

#include <utility>

#include "devices/kernel_resources.hpp"
#include "variants/device_constants.hpp"
#include "variants/launch_limits.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

class PreparedLaunches final : public PreparedVariant {
 public:
  PreparedLaunches(VariantLaunches launches, Device& device, const ProblemSize& size, const ProblemTensors& tensors)
      : device_(device), constants_(device, tensors), launches_(launches(size, constants_.tensors())) {}
  void run() override {
    for (const KernelLaunch& launch : launches_) device_.launch(launch);
  }
  std::string choice() const override { return kernel_display_names(launches_); }

 private:
  Device& device_;
  DeviceConstants constants_;
  std::vector<KernelLaunch> launches_;
};

std::vector<PlacedTensor> nowhere(const std::vector<ProblemTensor>& tensors) {
  std::vector<PlacedTensor> placed;
  for (const ProblemTensor& tensor : tensors) placed.push_back({tensor});
  return placed;
}

ProblemTensors tensors_nowhere(const ProblemSize& size) {
  const Problem& problem = *size.problem;
  return {nowhere(problem.inputs(size)), nowhere(problem.constants(size)), nowhere(problem.outputs(size)),
          nowhere(problem.in_outs(size))};
}

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
    return launches_(size, tensors_nowhere(size));
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
