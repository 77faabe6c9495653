// Stages of somebody else that are loaded into a case's own process: the device they need, and what the process gives
// up.
#pragma once

#include <memory>
#include <vector>

#include "devices/device_registry.hpp"
#include "ladders/folder_variant.hpp"

namespace convladder {

/// What a stage launches by itself goes to the CUDA runtime, which the stand-in is where nothing is timed. Without such
/// a stage, the device itself. Throws DeviceError.
std::unique_ptr<Device> open_for_stages(const DeviceKind& kind, const std::vector<const FolderVariant*>& stages);

/// Their libraries are all that this process reads from now on, beside the system's (case_confinement.hpp). Without a
/// stage it gives up nothing.
void confine_for_stages(const DeviceKind& kind, const std::vector<const FolderVariant*>& stages);

}  // namespace convladder
