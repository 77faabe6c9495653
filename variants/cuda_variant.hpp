// A CUDA variant is its kernels and a launch plan; this makes them a registered variant.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "variants/registry.hpp"

namespace convladder {

/// Device addresses of the three tensors: `input` NCHW, `weights` OIHW, `output` NCHW.
struct CudaTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  float* output = nullptr;
};

/// Which kernels run, over which grid, with which arguments. A pure function: it must not touch a device.
using LaunchPlan = std::vector<KernelLaunch> (*)(const ConvShape& shape, const CudaTensors& tensors);
using UnsupportedReason = std::string (*)(const ConvShape& shape);

/// Wraps a launch plan into a variant that copies the weights to the device in `prepare`.
std::unique_ptr<ConvVariant> cuda_variant(LaunchPlan plan, UnsupportedReason unsupported = nullptr);

}  // namespace convladder
