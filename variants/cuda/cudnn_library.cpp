#include "variants/cuda/cudnn_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "devices/device_error.hpp"

namespace convladder {
namespace {

CudnnLibrary open_library() {
  CudnnLibrary library;
  // Never closed: cuDNN opens libraries of its own that stay in use until the process ends.
  void* handle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    library.missing = fmt::format("libcudnn.so.9 not found ({})", error == nullptr ? "no reason given" : error);
    handle = dlopen("libcudnn.so", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return library;
    library.missing.clear();
  }
  const auto load = [&library, handle](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr && library.missing.empty()) library.missing = fmt::format("libcudnn has no {}", name);
  };
#define CONVLADDER_CUDNN_LOAD(name) load(library.name, #name)
  CONVLADDER_CUDNN_FUNCTIONS(CONVLADDER_CUDNN_LOAD);
#undef CONVLADDER_CUDNN_LOAD
  if (library.missing.empty() && library.cudnnGetVersion() / 10000 != CUDNN_MAJOR) {
    library.missing =
        fmt::format("libcudnn is version {}, this build was made for {}.x", library.cudnnGetVersion(), CUDNN_MAJOR);
  }
  return library;
}

}  // namespace

const CudnnLibrary& cudnn_library() {
  static const CudnnLibrary library = open_library();
  return library;
}

void require_cudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("{}: {}", call, cudnn_library().cudnnGetErrorString(status)));
}

}  // namespace convladder
