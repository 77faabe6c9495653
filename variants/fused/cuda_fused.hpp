// A CUDA fused variant is its kernels and a launch plan; this makes them a registered fused variant.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "variants/fused/fused_variant.hpp"

namespace convladder {

/// Everything beside the registration. All are pure functions, and none is left out; a shape that `unsupported` refuses
/// is given to no other.
struct CudaFusedParts {
  std::string (*unsupported)(const FusedShape& shape) = nullptr;  ///< empty, or why not
  std::vector<float> (*pack)(const FusedShape& shape, const float* weights) = nullptr;
  /// The `weights` are those that `pack` made, on the device.
  std::vector<KernelLaunch> (*plan)(const FusedShape& shape, const OperatorTensors& tensors) = nullptr;
  std::string (*choice)(const FusedShape& shape) = nullptr;  ///< for the record
};

/// Wraps them into a fused variant that packs the weights and copies them and the bias to the device in `prepare`.
std::unique_ptr<FusedVariant> cuda_fused_variant(const CudaFusedParts& parts);

}  // namespace convladder
