// Kernels as a variant of a problem, with all that can be said of it beside a launch plan (kernel_launches.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "variants/kernel_launches.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// What makes a variant of kernels; what is left out has its usual meaning. All are pure functions: they must not touch
/// a device.
struct LaunchParts {
  /// Which kernels run, over which grid, with which arguments. The constants are on the device, the first as `pack` has
  /// left it; without a device all addresses are null.
  std::function<std::vector<KernelLaunch>(const ProblemSize& size, const ProblemTensors& tensors, float* workspace)>
      plan;
  std::function<std::string(const ProblemSize& size)> unsupported = {};  ///< `Variant::unsupported_reason`
  /// The first constant in the order that the kernels want, padded where they want it; none: as the problem has it.
  std::function<std::vector<float>(const ProblemSize& size, const float* constant)> pack = {};
  /// What was chosen for the size, for the record; none: the kernels' names.
  std::function<std::string(const ProblemSize& size)> choice = {};
  /// Bytes of device memory that the kernels need beside the tensors.
  std::function<std::size_t(const ProblemSize& size)> workspace = {};
  double tolerance = kFloat32Tolerance;                     ///< `Variant::tolerance`
  std::function<bool(const ProblemSize& size)> suits = {};  ///< `Variant::suits`
};

/// What makes one that `convladder sweep` can choose for.
struct TunableLaunchParts {
  /// The parts with a configuration, which may be empty or leave something out; `choice` is required.
  std::function<LaunchParts(const Configuration& wanted)> parts;
  /// `Variant::configurations`
  std::function<Configurations(const ProblemSize& size, const Configuration& wanted, int most)> configurations;
  /// Empty if the size, which the variant supports, can be run so, otherwise why not and what can, in one line.
  std::function<std::string(const ProblemSize& size, const Configuration& wanted)> impossible;
};

/// They live as long as the program. The constants are copied to the device in `prepare`.
const Variant& launch_variant(LaunchParts parts);
const Variant& launch_variant(TunableLaunchParts parts);

}  // namespace convladder
