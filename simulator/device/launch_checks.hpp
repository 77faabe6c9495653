// What a GPU would refuse about a launch before it begins.
#pragma once

#include <string>

#include "devices/device.hpp"
#include "devices/device_error.hpp"
#include "simulator/caches/gpu_model.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// cudaErrorCooperativeLaunchTooLarge: not all blocks of a cooperative launch can be there at a time.
struct CooperativeLaunchTooLarge : DeviceError {
  using DeviceError::DeviceError;
};

/// The blocks of a cluster along each axis: as the launch says, or as the kernel was compiled, or one.
Dim3 cluster_of(const ptx::Kernel& kernel, const KernelLaunch& launch);

/// What is wrong with the clusters of a launch: their size, or that the grid is no multiple of it. Empty if nothing is.
std::string cluster_problem(const ptx::Kernel& kernel, const KernelLaunch& launch);

/// The launch with its grid in blocks, also where the kernel says that it is given in clusters (.blocksareclusters).
KernelLaunch in_blocks(const ptx::Kernel& kernel, const KernelLaunch& launch);

/// Throws DeviceError for sizes beyond a GPU's limits or other than the kernel's, for arguments that do not fit its
/// parameters, for a grid that is no multiple of its clusters; CooperativeLaunchTooLarge.
void check_launch(const Program& program, const KernelLaunch& launch, const GpuModel& gpu);

}  // namespace convladder::simulated
