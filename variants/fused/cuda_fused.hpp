// A CUDA fused variant is its kernels and a launch plan; this makes them a registered variant.
#pragma once

#include <string>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "variants/fused/fused_shape.hpp"
#include "variants/registration.hpp"

namespace convladder {

/// Device addresses: the weights as `CudaFusedParts::pack` made them; `bias` null without.
struct FusedTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;
  float* output = nullptr;
};

/// Everything beside the registration. All are pure functions, and none is left out; a shape that `unsupported` refuses
/// is given to no other.
struct CudaFusedParts {
  std::string (*unsupported)(const FusedShape& shape) = nullptr;  ///< empty, or why not
  std::vector<float> (*pack)(const FusedShape& shape, const float* weights) = nullptr;
  std::vector<KernelLaunch> (*plan)(const FusedShape& shape, const FusedTensors& tensors) = nullptr;
  std::string (*choice)(const FusedShape& shape) = nullptr;  ///< for the record
};

/// Wraps them into a variant that no network takes unless it is named, and that lives as long as the program.
const Variant& cuda_fused_variant(const CudaFusedParts& parts);

}  // namespace convladder
