// Filling and changing tensors on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "devices/device_filling.hpp"

namespace convladder {

/// Fills tensors by kernels in whatever stream `current` is when they are launched; it has to outlive the result.
std::unique_ptr<DeviceFilling> make_cuda_filling(const cudaStream_t& current);

}  // namespace convladder
