// The timeline of a device, as a profiler would list it: one entry for each kernel, copy, call, layer or phase.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// The groups of activities; a profile has a table for each. The first two come from a GPU's profiling interface, the
/// others from the clocks of the device and of the host.
namespace activity_group {
inline constexpr std::string_view kGpu = "GPU activities";
inline constexpr std::string_view kApi = "API calls";
inline constexpr std::string_view kLayers = "layers";
inline constexpr std::string_view kHost = "host phases";
}  // namespace activity_group

struct Activity {
  std::string group;    ///< activity_group::…
  std::string name;     ///< "void conv_shared_memory(float const*, …)", "[CUDA memcpy HtoD]", "cudaMalloc", "conv1"
  double start_ns = 0;  ///< on one clock for all activities of a recording
  double duration_ns = 0;  ///< measured
};

}  // namespace convladder
