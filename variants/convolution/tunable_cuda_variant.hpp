// A CUDA variant whose configuration `convladder sweep` can choose.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "variants/convolution/cuda_variant.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

/// `CudaVariantParts` for one configuration.
struct ConfiguredCudaParts {
  std::function<std::vector<KernelLaunch>(const ConvShape& shape, const CudaTensors& tensors)> plan;
  std::function<std::string(const ConvShape& shape)> unsupported;
  std::function<std::vector<float>(const ConvShape& shape, const float* weights)> pack;
  std::function<std::string(const ConvShape& shape)> choice;
  WorkspaceBytes workspace = nullptr;
  double tolerance = kFloat32Tolerance;
  bool suits = true;
};

/// The parts of a CUDA variant with a choice of configurations.
struct TunableCudaParts {
  /// The parts for a configuration, which may be empty or incomplete; `choice` is required.
  std::function<ConfiguredCudaParts(const Configuration& wanted)> parts;
  /// `Variant::configurations`.
  std::function<Configurations(const ConvShape& shape, const Configuration& wanted, int most)> configurations;
  /// Empty if the shape, which the variant supports, can be run with the wanted values, otherwise why not and which
  /// values can, in one line.
  std::function<std::string(const ConvShape& shape, const Configuration& wanted)> impossible;
};

/// Makes the variant, which lives as long as the program.
const Variant& tunable_cuda_variant(const TunableCudaParts& parts);

}  // namespace convladder
