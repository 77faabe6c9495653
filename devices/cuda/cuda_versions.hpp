// The drivers and GPUs that a build of this program runs on, from version numbers alone.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// Why the runtime finds no usable driver, in one line. `driver_cuda` is the newest CUDA that the driver runs, 0
/// without a driver, and `runtime_cuda` the CUDA that this program was built with; both are 1000 major + 10 minor, as
/// cudaDriverGetVersion and cudaRuntimeGetVersion give them. `driver` is the driver's own version, "550.54.14"; empty
/// if not known.
std::string driver_too_old(int driver_cuda, int runtime_cuda, std::string_view driver);

/// Whether a build for these architectures ("75-real,90-virtual", "90" for both) has machine code that a GPU of compute
/// capability major.minor runs. If not, the driver compiles PTX when a kernel is used for the first time.
bool has_machine_code(std::string_view architectures, int major, int minor);

}  // namespace convladder
