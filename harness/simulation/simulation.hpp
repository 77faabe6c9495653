// One launch of a kernel of any module on a simulated device of its own.
#pragma once

#include <vector>

#include "devices/simulated/simulated_device.hpp"
#include "harness/simulation/kernel_argument.hpp"
#include "harness/simulation/simulation_report.hpp"

namespace convladder {

/// Runs the kernel; what ends it early is in the report. `arguments` are one for each parameter, with their names.
/// Throws ptx::PtxError for what the device does not execute.
SimulationReport run_simulation(const ptx::Module& module, const ptx::Kernel& kernel, KernelLaunch launch,
                                const std::vector<KernelArgument>& arguments,
                                const simulated::SimulatedDeviceOptions& options);

}  // namespace convladder
