// A CUDA variant is its kernels and a launch plan; this makes them a registered variant.
//
// nvcc reads this with every kernel, and each standard header several times: few are included.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/float32.hpp"
#include "variants/registration.hpp"

namespace convladder {

/// Device addresses of the tensors: `input` NCHW, `weights` OIHW or as the variant packed them, `output` NCHW.
struct CudaTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  float* output = nullptr;
  float* workspace = nullptr;  ///< as many bytes as `CudaVariantParts::workspace` says
};

/// Which kernels run, over which grid, with which arguments. A pure function: it must not touch a device.
using LaunchPlan = std::vector<KernelLaunch> (*)(const ConvShape& shape, const CudaTensors& tensors);
/// Empty if the shape can be run, otherwise why not.
using UnsupportedReason = std::string (*)(const ConvShape& shape);
/// The weights (OIHW on the host) in the order that the kernels want, padded where they want it.
using WeightPacking = std::vector<float> (*)(const ConvShape& shape, const float* weights);
/// Bytes of device memory that the kernels need beside the tensors.
using WorkspaceBytes = std::size_t (*)(const ConvShape& shape);
/// What was chosen for the shape, for the record: "8 maps x 9 pixels". Empty if there was nothing to choose.
using ChoiceText = std::string (*)(const ConvShape& shape);

/// Everything beside the registration that makes a CUDA variant; what is left out has its usual meaning.
struct CudaVariantParts {
  LaunchPlan plan = nullptr;
  UnsupportedReason unsupported = nullptr;  ///< none: it runs every shape
  WeightPacking pack = nullptr;             ///< none: the weights stay OIHW
  ChoiceText choice = nullptr;
  WorkspaceBytes workspace = nullptr;
  double tolerance = kFloat32Tolerance;  ///< `Variant::tolerance`
  bool suits = true;  ///< `Variant::suits`, of any shape: false for a stage that is there to be learned from
};

/// Wraps a launch plan into a variant that packs the weights and copies them to the device in `prepare`. It lives as
/// long as the program.
const Variant& cuda_variant(const CudaVariantParts& parts);
const Variant& cuda_variant(LaunchPlan plan, UnsupportedReason unsupported = nullptr);

}  // namespace convladder
