// Turns kernels and a launch plan into a registered CUDA variant.
//
// nvcc reads this file with every kernel, and each standard header several times: only a few are included.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "variants/accuracy.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/registration.hpp"

namespace convladder {

/// Device addresses of the tensors: `input` NCHW, `weights` OIHW or as the variant packed them, `output` NCHW.
struct CudaTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  float* output = nullptr;
  float* workspace = nullptr;  ///< has `CudaVariantParts::workspace` bytes
};

/// Which kernels run, over which grid, with which arguments. It must be a pure function that does not touch a device.
using LaunchPlan = std::vector<KernelLaunch> (*)(const ConvShape& shape, const CudaTensors& tensors);
/// Empty if the shape can be run, otherwise why not.
using UnsupportedReason = std::string (*)(const ConvShape& shape);
/// The weights (OIHW on the host) in the order that the kernels need, padded where they need it.
using WeightPacking = std::vector<float> (*)(const ConvShape& shape, const float* weights);
/// Bytes of device memory that the kernels need in addition to the tensors.
using WorkspaceBytes = std::size_t (*)(const ConvShape& shape);
/// The choice that was made for the shape, for the record: "8 maps x 9 pixels". Empty if there was nothing to choose.
using ChoiceText = std::string (*)(const ConvShape& shape);

/// Everything that makes a CUDA variant, except its registration; a member that is left out has its usual meaning.
struct CudaVariantParts {
  LaunchPlan plan = nullptr;
  UnsupportedReason unsupported = nullptr;  ///< none: the variant runs every shape
  WeightPacking pack = nullptr;             ///< none: the weights stay OIHW
  ChoiceText choice = nullptr;
  WorkspaceBytes workspace = nullptr;
  double tolerance = kFloat32Tolerance;  ///< `Variant::tolerance`
  bool suits = true;  ///< `Variant::suits` for any shape: false for a stage that exists to be learned from
};

/// Wraps a launch plan into a variant that packs the weights and copies them to the device in `prepare`. It lives as
/// long as the program.
const Variant& cuda_variant(const CudaVariantParts& parts);
const Variant& cuda_variant(LaunchPlan plan, UnsupportedReason unsupported = nullptr);

}  // namespace convladder
