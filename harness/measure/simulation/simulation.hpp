// One launch of a kernel from any module on a simulated device of its own.
#pragma once

#include <vector>

#include "harness/measure/simulation/simulation_inputs.hpp"
#include "harness/measure/simulation/simulation_report.hpp"
#include "simulator/device/simulated_device.hpp"

namespace convladder {

/// Runs the kernel; the reason of an early end is in the report. `inputs` are those from `inputs_for` the kernel. The
/// report's buffers are all of theirs and then `variables`. Without `is_counted` nothing is counted, which is quicker.
/// Throws ptx::PtxError for anything that the device does not execute.
SimulationReport run_simulation(const ptx::Module& module, const ptx::Kernel& kernel, KernelLaunch launch,
                                const SimulationInputs& inputs, const std::vector<ReadContent>& variables,
                                const simulated::SimulatedDeviceOptions& options, bool is_counted = true);

}  // namespace convladder
