// The stand-in's shared libraries: their places, and the device in them.
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

/// The folder of the libraries: beside this program, or in its ../lib/convladder; empty if they are in neither.
std::filesystem::path find_libraries();
/// The folder of the libraries. Throws UserError if there are none.
std::filesystem::path libraries();
/// The library among them that the dynamic linker calls in every process (LD_AUDIT): it lets a CUDA runtime that is
/// part of a program lead to them, and finds them before others of their names. Empty: there is none for this
/// processor.
std::filesystem::path find_redirection(const std::filesystem::path& folder);

/// A device that code loaded into this process launches on.
class LoadedCodesDevice : public Device {
 public:
  /// From now on a write to this memory is a finding.
  virtual void only_read(const void* address) = 0;
  /// The findings of launches since the last call; none without checkers.
  virtual std::vector<simulated::Finding> take_findings() = 0;
  /// The outcome of other orders of the launches since the last call.
  virtual simulated::OrdersTried take_orders() = 0;
  virtual simulated::MutantsSeen take_mutants() = 0;
};

/// The device that code calling the CUDA runtime sees: memory on it is that of the code's cudaMalloc, the counts of its
/// kernels are in `take_counters`, and their first fault is the DeviceError of `wait`. This build's kernels run on it
/// as well. Code that is loaded afterwards and asks for libcudart or libcuda gets these libraries. There is one for a
/// process. Without settings, uses those of the environment. Throws DeviceError.
std::unique_ptr<LoadedCodesDevice> open_device(const std::optional<Settings>& settings = std::nullopt);

/// The kernels of this program, which the device does not know if it belongs to a library.
struct OwnKernels {
  const PtxImages* images = nullptr;  ///< null: the program has none
  std::string (*mangled_name)(const void* kernel) = nullptr;
};

/// The library's function that makes the device from `const OwnKernels&`, with the build that the library must be of.
inline constexpr const char* kOpenDevice = "convladder_stand_in_open_device";

}  // namespace convladder::stand_in
