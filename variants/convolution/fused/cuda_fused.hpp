// Turns kernels and a launch plan into a registered CUDA fused variant.
#pragma once

#include <string>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/registration.hpp"

namespace convladder {

/// Device addresses of the tensors: the weights are as `CudaFusedParts::pack` made them, `bias` is null without a bias.
struct FusedTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;
  float* output = nullptr;
};

/// Everything that makes a fused variant, except its registration. All members are required and must be pure functions;
/// a shape that `unsupported` refuses is not passed to the others.
struct CudaFusedParts {
  std::string (*unsupported)(const FusedShape& shape) = nullptr;  ///< empty, or why not
  std::vector<float> (*pack)(const FusedShape& shape, const float* weights) = nullptr;
  std::vector<KernelLaunch> (*plan)(const FusedShape& shape, const FusedTensors& tensors) = nullptr;
  std::string (*choice)(const FusedShape& shape) = nullptr;  ///< for the record
};

/// Wraps the parts into a variant that no network takes unless it is named, and that lives as long as the program.
const Variant& cuda_fused_variant(const CudaFusedParts& parts);

}  // namespace convladder
