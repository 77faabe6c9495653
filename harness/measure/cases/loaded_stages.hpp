// Stages from outside this program that are loaded into a case's own process: the device they need, and the rights that
// the process gives up.
#pragma once

#include <memory>
#include <vector>

#include "devices/device_registry.hpp"
#include "ladders/compiled_stage.hpp"

namespace convladder {

/// Opens the device for stages. Their own launches go to the CUDA runtime, which is the stand-in where nothing is
/// timed. Without such a stage, opens the device itself. Throws DeviceError.
std::unique_ptr<Device> open_for_stages(const DeviceKind& kind, const std::vector<const CompiledStage*>& stages);

/// Confines this process: from now on it reads only the stages' libraries and the system's (case_confinement.hpp).
/// Without a stage it gives up nothing.
void confine_for_stages(const DeviceKind& kind, const std::vector<const CompiledStage*>& stages);

}  // namespace convladder
