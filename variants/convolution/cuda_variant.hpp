// A CUDA variant is its kernels and a launch plan; this makes them a registered variant.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "variants/convolution/registry.hpp"
#include "variants/float32.hpp"

namespace convladder {

/// Device addresses of the tensors: `input` NCHW, `weights` OIHW or as the variant packed them, `output` NCHW.
struct CudaTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  float* output = nullptr;
  float* workspace = nullptr;  ///< as many bytes as `CudaVariantParts::workspace` says
};

/// Which kernels run, over which grid, with which arguments. A pure function: it must not touch a device.
using LaunchPlan = std::function<std::vector<KernelLaunch>(const ConvShape& shape, const CudaTensors& tensors)>;
using UnsupportedReason = std::string (*)(const ConvShape& shape);
/// The weights (OIHW on the host) in the order that the kernels want, padded where they want it.
using WeightPacking = std::function<std::vector<float>(const ConvShape& shape, const float* weights)>;
/// Bytes of device memory that the kernels need beside the tensors.
using WorkspaceBytes = std::size_t (*)(const ConvShape& shape);
/// What was chosen for the shape, for the record: "8 maps x 9 pixels". Empty if there was nothing to choose.
using ChoiceText = std::function<std::string(const ConvShape& shape)>;

/// Everything beside the registration that makes a CUDA variant; what is left out has its usual meaning.
struct CudaVariantParts {
  LaunchPlan plan = nullptr;
  std::function<std::string(const ConvShape& shape)> unsupported = nullptr;  ///< none: it runs every shape
  WeightPacking pack = nullptr;                                              ///< none: the weights stay OIHW
  ChoiceText choice = nullptr;
  WorkspaceBytes workspace = nullptr;
  double tolerance = kFloat32Tolerance;  ///< `ConvVariant::tolerance`
  bool suits = true;  ///< `ConvVariant::suits`, of any shape: false for a stage that is there to be learned from
};

/// Wraps a launch plan into a variant that packs the weights and copies them to the device in `prepare`.
std::unique_ptr<ConvVariant> cuda_variant(const CudaVariantParts& parts);
std::unique_ptr<ConvVariant> cuda_variant(LaunchPlan plan, UnsupportedReason unsupported = nullptr);

/// What makes a CUDA variant that `convladder sweep` can choose for.
struct TunableCudaParts {
  /// The parts with a configuration, which may be empty or leave something out; `choice` is required.
  std::function<CudaVariantParts(const Configuration& wanted)> parts;
  /// `ConvVariant::configurations`
  std::function<Configurations(const ConvShape& shape, const Configuration& wanted, int most)> configurations;
  /// Empty if the shape, which the variant supports, can be run so, otherwise why not and what can, in one line.
  std::function<std::string(const ConvShape& shape, const Configuration& wanted)> impossible;
};
std::unique_ptr<ConvVariant> tunable_cuda_variant(const TunableCudaParts& parts);

}  // namespace convladder
