// A CUDA variant that `convladder sweep` can choose for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "variants/convolution/cuda_variant.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

/// `CudaVariantParts` that know a configuration.
struct ConfiguredCudaParts {
  std::function<std::vector<KernelLaunch>(const ConvShape& shape, const CudaTensors& tensors)> plan;
  std::function<std::string(const ConvShape& shape)> unsupported;
  std::function<std::vector<float>(const ConvShape& shape, const float* weights)> pack;
  std::function<std::string(const ConvShape& shape)> choice;
  WorkspaceBytes workspace = nullptr;
  double tolerance = kFloat32Tolerance;
  bool suits = true;
};

/// What makes a CUDA variant that can be chosen for.
struct TunableCudaParts {
  /// The parts with a configuration, which may be empty or leave something out; `choice` is required.
  std::function<ConfiguredCudaParts(const Configuration& wanted)> parts;
  /// `Variant::configurations`
  std::function<Configurations(const ConvShape& shape, const Configuration& wanted, int most)> configurations;
  /// Empty if the shape, which the variant supports, can be run so, otherwise why not and what can, in one line.
  std::function<std::string(const ConvShape& shape, const Configuration& wanted)> impossible;
};

/// It lives as long as the program.
const Variant& tunable_cuda_variant(const TunableCudaParts& parts);

}  // namespace convladder
