// Records what the GPU and the CUDA API do, through CUPTI's activity interface.
//
// CUPTI's header is needed at build time, its library is opened at run time: the program starts and runs without it,
// and without a GPU. A process has one CUPTI, so these functions concern the whole process.
#pragma once

#include <string>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// Why activities cannot be recorded, "no CUPTI (why)"; empty if they can.
std::string cupti_unavailable();

/// Records kernels, copies, fills and API calls from now on. Throws DeviceError with `cupti_unavailable`'s text, or
/// what CUPTI answered: another profiler may hold it.
void start_cupti_activities();

/// Stops recording API calls; the GPU's work is still recorded.
void pause_cupti_api_calls();

/// Ends the recording and returns what was recorded, by start. The caller has waited for the GPU. Throws DeviceError if
/// CUPTI dropped records: a table of the others would be wrong.
std::vector<Activity> stop_cupti_activities();

}  // namespace convladder
