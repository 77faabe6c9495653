// Attributes of the GPU, by the numbers that both APIs have for them.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/gpus/gpu_facts.hpp"

namespace convladder::stand_in {

/// CUDA 13.0 and its drivers: no newer than the implemented functions.
inline constexpr int kCudaVersion = 13000;

/// The value for a number of cudaDeviceAttr and CUdevice_attribute: the GPU's own figure where it is known, otherwise
/// that of all GPUs of its kind. None for a number that is no attribute.
std::optional<int> device_attribute(const GpuFacts& gpu, int number);

}  // namespace convladder::stand_in
