// Turns kernels into a variant of a problem, with everything that can be said about it besides a launch plan
// (kernel_launches.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "variants/kernel_launches.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// The parts that make a variant of kernels; a member that is left out has its usual meaning. All functions must be
/// pure: they must not touch a device.
struct LaunchParts {
  /// Which kernels run, over which grid, with which arguments. The constants are on the device, the first as `pack`
  /// returned it; without a device all addresses are null.
  std::function<std::vector<KernelLaunch>(const ProblemSize& size, const ProblemTensors& tensors, float* workspace)>
      plan;
  std::function<std::string(const ProblemSize& size)> unsupported = {};  ///< `Variant::unsupported_reason`
  /// The first constant in the order that the kernels need, padded where they need it; none: as the problem has it.
  std::function<std::vector<float>(const ProblemSize& size, const float* constant)> pack = {};
  /// The choice that was made for the size, for the record; none: the kernels' names.
  std::function<std::string(const ProblemSize& size)> choice = {};
  /// Bytes of device memory that the kernels need in addition to the tensors.
  std::function<std::size_t(const ProblemSize& size)> workspace = {};
  double tolerance = kFloat32Tolerance;                     ///< `Variant::tolerance`
  std::function<bool(const ProblemSize& size)> suits = {};  ///< `Variant::suits`
};

/// The parts of a variant whose configuration `convladder sweep` can choose.
struct TunableLaunchParts {
  /// The parts for a configuration, which may be empty or incomplete; `choice` is required.
  std::function<LaunchParts(const Configuration& wanted)> parts;
  /// `Variant::configurations`.
  std::function<Configurations(const ProblemSize& size, const Configuration& wanted, int most)> configurations;
  /// Empty if the size, which the variant supports, can be run with the wanted values, otherwise why not and which
  /// values can, in one line.
  std::function<std::string(const ProblemSize& size, const Configuration& wanted)> impossible;
};

/// Makes a variant that lives as long as the program. Its constants are copied to the device in `prepare`.
const Variant& launch_variant(LaunchParts parts);
const Variant& launch_variant(TunableLaunchParts parts);

}  // namespace convladder
