// The stand-in's shared libraries: where they lie, and the device in them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "devices/ptx_images.hpp"
#include "simulator/stand_in/settings.hpp"
#include "simulator/state/finding.hpp"

namespace convladder::stand_in {

/// The folder with the libraries: beside this program, or in ../lib/convladder of it; empty if they are in none.
std::filesystem::path find_libraries();
/// Throws UserError where there are none.
std::filesystem::path libraries();

/// A device that code loaded into this process launches on.
class LoadedCodesDevice : public Device {
 public:
  /// A write to it is a finding from now on.
  virtual void only_read(const void* address) = 0;
  /// Of what was launched since the last time; none without checkers.
  virtual std::vector<simulated::Finding> take_findings() = 0;
};

/// What code that calls the CUDA runtime sees, as a device: memory on it is that of its cudaMalloc, what its kernels
/// did is in `take_counters`, and the first fault of one is the DeviceError of `wait`. This build's kernels run on it
/// as well. Code that is loaded afterwards and asks for libcudart or libcuda gets these libraries. One for a process.
/// Without settings they are those of the environment. Throws DeviceError.
std::unique_ptr<LoadedCodesDevice> open_device(const std::optional<Settings>& settings = std::nullopt);

/// The kernels of this program, which its device does not know where it is a library's.
struct OwnKernels {
  const PtxImages* images = nullptr;  ///< null: it has none
  std::string (*mangled_name)(const void* kernel) = nullptr;
};

/// The function of the library that makes it of `const OwnKernels&`, and of which build it has to be.
inline constexpr const char* kOpenDevice = "convladder_stand_in_open_device";

}  // namespace convladder::stand_in
