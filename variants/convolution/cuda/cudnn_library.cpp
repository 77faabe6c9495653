#include "variants/convolution/cuda/cudnn_library.hpp"

#include <fmt/format.h>

#include "devices/device_error.hpp"
#include "support/dynamic_library.hpp"

namespace convladder {
namespace {

CudnnLibrary open_library() {
  CudnnLibrary library;
  DynamicLibrary file({"libcudnn.so.9", "libcudnn.so"});
#define CONVLADDER_CUDNN_LOAD(name) file.load(library.name, #name)
  CONVLADDER_CUDNN_FUNCTIONS(CONVLADDER_CUDNN_LOAD);
#undef CONVLADDER_CUDNN_LOAD
  library.missing = file.missing();
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
