// Kernels and a launch plan as a variant of a problem: most variants for CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "variants/variant.hpp"

namespace convladder {

/// Which kernels run, over which grid, with which arguments. A pure function: it must not touch a device. The constants
/// of `tensors` are on the device; without one all addresses are null.
using VariantLaunches = std::vector<KernelLaunch> (*)(const ProblemSize& size, const ProblemTensors& tensors);

/// Wraps a launch plan into a variant that copies the constants to the device in `prepare`. A size whose grid no GPU
/// takes is refused with a reason, as is one that `unsupported` gives a reason for. `tolerance` as in `Variant`.
std::unique_ptr<Variant> launch_variant(VariantLaunches launches, double tolerance = kFloat32Tolerance,
                                        std::string (*unsupported)(const ProblemSize& size) = nullptr);

}  // namespace convladder
