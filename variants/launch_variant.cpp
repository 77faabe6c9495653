#include "variants/launch_variant.hpp"

#include <utility>

#include "devices/kernel_resources.hpp"
#include "variants/kernel_launches.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {
namespace {

class PreparedLaunches final : public PreparedVariant {
 public:
  PreparedLaunches(const LaunchParts& parts, Device& device, const ProblemSize& size, const ProblemTensors& tensors)
      : device_(device),
        constants_(device, tensors, parts.pack ? parts.pack(size, tensors.constant()) : std::vector<float>()) {
    if (parts.workspace) workspace_ = device.allocate(parts.workspace(size), "workspace");
    launches_ = parts.plan(size, constants_.tensors(), workspace_.floats());
    choice_ = parts.choice ? parts.choice(size) : kernel_display_names(launches_);
  }
  void run() override {
    for (const KernelLaunch& launch : launches_) device_.launch(launch);
  }
  std::string choice() const override { return choice_; }

 private:
  Device& device_;
  DeviceConstants constants_;
  DeviceBuffer workspace_;
  std::vector<KernelLaunch> launches_;
  std::string choice_;
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
  explicit LaunchVariant(LaunchParts parts) : parts_(std::move(parts)) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    return parts_.unsupported ? parts_.unsupported(size) : std::string();
  }
  bool suits(const ProblemSize& size) const override { return !parts_.suits || parts_.suits(size); }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<PreparedLaunches>(parts_, device, size, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    return parts_.plan(size, tensors_nowhere(size), nullptr);
  }
  double tolerance() const override { return parts_.tolerance; }

 private:
  LaunchParts parts_;
};

/// The parts for a configuration, with a choice that also says who wanted the configuration.
LaunchParts configured_parts(const TunableLaunchParts& parts, const Configuration& wanted, ChosenBy chosen_by) {
  LaunchParts configured = parts.parts(wanted);
  configured.choice = [choice = configured.choice, chosen_by](const ProblemSize& size) {
    return choice(size) + chosen_by_text(chosen_by);
  };
  return configured;
}

class TunableLaunchVariant final : public Variant {
 public:
  explicit TunableLaunchVariant(TunableLaunchParts parts)
      : parts_(std::move(parts)), by_model_(configured_parts(parts_, {}, ChosenBy::model)) {}

  std::string unsupported_reason(const ProblemSize& size) const override { return by_model_.unsupported_reason(size); }
  bool suits(const ProblemSize& size) const override { return by_model_.suits(size); }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return by_model_.prepare(device, size, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override { return by_model_.launch_plan(size); }
  double tolerance() const override { return by_model_.tolerance(); }

  Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const override {
    require_possible(size, wanted);
    return parts_.configurations(size, wanted, most);
  }
  std::unique_ptr<Variant> configured(const ProblemSize& size, const Configuration& wanted,
                                      ChosenBy chosen_by) const override {
    require_possible(size, wanted);
    return std::make_unique<LaunchVariant>(configured_parts(parts_, wanted, chosen_by));
  }

 private:
  void require_possible(const ProblemSize& size, const Configuration& wanted) const {
    std::string reason = unsupported_reason(size);
    if (reason.empty()) reason = parts_.impossible(size, wanted);
    if (!reason.empty()) throw std::invalid_argument(reason);
  }

  TunableLaunchParts parts_;
  LaunchVariant by_model_;
};

}  // namespace

const Variant& launch_variant(LaunchParts parts) {
  return keep_variant(std::make_unique<LaunchVariant>(std::move(parts)));
}

const Variant& launch_variant(TunableLaunchParts parts) {
  return keep_variant(std::make_unique<TunableLaunchVariant>(std::move(parts)));
}

const Variant& launch_variant(VariantLaunches launches, double tolerance,
                              std::string (*unsupported)(const ProblemSize& size)) {
  const auto refused = [launches, unsupported](const ProblemSize& size) {
    std::string reason = unsupported == nullptr ? std::string() : unsupported(size);
    if (!reason.empty()) return reason;
    for (const KernelLaunch& launch : launches(size, tensors_nowhere(size))) {
      if (reason = grid_error(launch.grid); !reason.empty()) break;
    }
    return reason;
  };
  return launch_variant(LaunchParts{.plan = [launches](const ProblemSize& size, const ProblemTensors& tensors,
                                                       float* /*workspace*/) { return launches(size, tensors); },
                                    .unsupported = refused,
                                    .tolerance = tolerance});
}

// Every block has at least one element of a tensor in memory, and no GPU's memory has 2^31 blocks of them.
}  // namespace convladder
