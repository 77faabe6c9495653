// The CUDA runtime's functions that kernels may call: launches of kernels, streams and events, copies and fills, errors
// and attributes (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"; cuda_device_runtime_api.h).
#pragma once

#include <string_view>

#include "simulator/instructions/provided_functions.hpp"

namespace convladder::simulated {

/// The function of that name; nullptr if the device provides none. "__cudaCDP2LaunchDeviceV2", which nvcc 12 and later
/// call, and "cudaLaunchDeviceV2" of older ones are the same, and so are their forms for the default stream of a thread
/// ("…_ptsz").
const ProvidedFunction* device_runtime_function(std::string_view name);

}  // namespace convladder::simulated
