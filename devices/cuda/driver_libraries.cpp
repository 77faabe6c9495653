// The versions of NVIDIA's driver and runtime on this machine, for the record.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "devices/cuda/nvml.hpp"
#include "support/dynamic_library.hpp"
#include "support/library_versions.hpp"

namespace convladder {
namespace {

std::string cuda_text(int number) { return fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10); }

/// The driver's version; NVML is asked once.
const std::string& driver_version() {
  static const std::string version = nvml_driver_version();
  return version;
}

/// The driver's library and the CUDA that it runs: "580.65.06, CUDA 13.0".
LibraryVersion driver() {
  const DynamicLibrary library({"libcuda.so.1"});
  int cuda = 0;
  const bool is_known = cudaDriverGetVersion(&cuda) == cudaSuccess && cuda != 0;
  const std::string& version = driver_version();
  if (!library.missing().empty() && version.empty() && !is_known) return {"CUDA driver", library.missing(), {}};
  return {"CUDA driver",
          fmt::format("{}, {}", version.empty() ? "of an unknown version" : version,
                      is_known ? cuda_text(cuda) : "which CUDA it runs is not known"),
          library.file()};
}

LibraryVersion runtime() {
  int cuda = 0;
  const bool is_known = cudaRuntimeGetVersion(&cuda) == cudaSuccess;
  return {"CUDA runtime", is_known ? cuda_text(cuda) : "of an unknown version", library_with("cudaRuntimeGetVersion")};
}

/// A part of the driver, with its version.
LibraryVersion nvml() {
  const DynamicLibrary library({"libnvidia-ml.so.1"});
  const std::string& version = driver_version();
  return {"NVML",
          !library.missing().empty() ? library.missing()
          : version.empty()          ? "no driver answers"
                                     : version,
          library.file()};
}

const LibraryVersionRegistration driver_registration(driver);
const LibraryVersionRegistration runtime_registration(runtime);
const LibraryVersionRegistration nvml_registration(nvml);

}  // namespace
}  // namespace convladder
