#include "simulator/stand_in/libraries.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "devices/device_error.hpp"
#include "devices/kernel_resources.hpp"
#include "support/errors.hpp"
#include "support/own_program.hpp"

namespace convladder::stand_in {
namespace {

namespace fs = std::filesystem;

fs::path here() { return own_program().parent_path(); }

/// Loads a library globally, so that whatever needs a library of this name finds it.
void* load(const fs::path& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    throw DeviceError(fmt::format("the stand-in for the CUDA runtime cannot be loaded: {}",
                                  error == nullptr ? library.string() : error));
  }
  return handle;
}

}  // namespace

fs::path find_libraries() {
  std::error_code error;
  const fs::path own = here();
  for (const fs::path& folder : {own / "stand_in", own.parent_path() / "stand_in",
                                 own.parent_path() / "lib/convladder/stand_in", own.parent_path() / "lib/convladder"}) {
    if (fs::exists(folder / "libcudart.so.13", error) && fs::exists(folder / "libconvladder_cuda.so", error)) {
      return folder;
    }
  }
  return {};
}

fs::path libraries() {
  fs::path folder = find_libraries();
  if (!folder.empty()) return folder;
  throw UserError(
      fmt::format("no libraries stand in for the CUDA runtime beside {}: CUDA's headers, zstd or lz4 were "
                  "not there when this program was built, or the target convladder_stand_in was not",
                  here().string()));
}

fs::path find_redirection(const fs::path& folder) {
  std::error_code error;
  const fs::path library = folder / "libconvladder_redirection.so";
  return fs::exists(library, error) ? library : fs::path();
}

std::unique_ptr<LoadedCodesDevice> open_device(const std::optional<Settings>& settings) {
  const fs::path folder = find_libraries();
  if (folder.empty()) throw DeviceError("this build has no stand-in for the CUDA runtime");
  // Set before the library is loaded: the first call to it makes the machine.
  if (settings) setenv(kSettingsVariable, settings_text(*settings).c_str(), 1);
  void* const library = load(folder / "libconvladder_cuda.so");
  // The names that programs of any age ask for.
  for (const char* const name : {"libcudart.so.13", "libcudart.so.12", "libcuda.so.1"}) load(folder / name);
  const auto open = reinterpret_cast<LoadedCodesDevice* (*)(const OwnKernels&)>(dlsym(library, kOpenDevice));
  if (open == nullptr) throw DeviceError(fmt::format("{} is of another build", folder.string()));
  const PtxImages* const images = ptx_images().empty() ? nullptr : &ptx_images().front();
  return std::unique_ptr<LoadedCodesDevice>(open({images, kernel_mangled_name}));
}

}  // namespace convladder::stand_in
