// The errors for which a GPU would refuse a launch before it begins.
#pragma once

#include <string>

#include "devices/device.hpp"
#include "devices/device_error.hpp"
#include "simulator/caches/gpu_model.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// cudaErrorCooperativeLaunchTooLarge: not all blocks of a cooperative launch can be resident at a time.
struct CooperativeLaunchTooLarge : DeviceError {
  using DeviceError::DeviceError;
};

/// The blocks of a cluster along each axis: from the launch, else from the compiled kernel, else one.
Dim3 cluster_of(const ptx::Kernel& kernel, const KernelLaunch& launch);

/// The problem with the size of a launch's blocks, if the kernel was compiled for another: "64 threads, but it was
/// compiled for 32". Empty if there is none.
std::string block_problem(const ptx::Kernel& kernel, const Dim3& block);

/// The problem with the clusters of a launch: their size, or a grid that is no multiple of it. Empty if there is none.
std::string cluster_problem(const ptx::Kernel& kernel, const KernelLaunch& launch);

/// The launch with its grid in blocks, even if the kernel says that it is given in clusters (.blocksareclusters).
KernelLaunch in_blocks(const ptx::Kernel& kernel, const KernelLaunch& launch);

/// Throws DeviceError for sizes beyond a GPU's limits or different from the kernel's, for arguments that do not fit its
/// parameters and for a grid that is no multiple of its clusters, and CooperativeLaunchTooLarge.
void check_launch(const Program& program, const KernelLaunch& launch, const GpuModel& gpu);

/// Whether an instruction reads a clock.
bool reads_clock(const ptx::Kernel& kernel);

}  // namespace convladder::simulated
