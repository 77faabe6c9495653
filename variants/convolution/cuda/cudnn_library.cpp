#include "variants/convolution/cuda/cudnn_library.hpp"

#include <fmt/format.h>

#include "devices/device_error.hpp"
#include "support/dynamic_library.hpp"
#include "support/library_versions.hpp"

namespace convladder {
namespace {

constexpr int kStatusesOfAKind = 1000;  // CUDNN_STATUS_NOT_SUPPORTED is 3000, and its reasons go up to 3999

CudnnLibrary open_library() {
  CudnnLibrary library;
  DynamicLibrary file({"libcudnn.so.9", "libcudnn.so"});
#define CONVLADDER_CUDNN_LOAD(name) file.load(library.name, #name)
  CONVLADDER_CUDNN_FUNCTIONS(CONVLADDER_CUDNN_LOAD);
#undef CONVLADDER_CUDNN_LOAD
  library.missing = file.missing();
  library.file = file.file();
  if (library.missing.empty() && library.cudnnGetVersion() / 10000 != CUDNN_MAJOR) {
    library.missing =
        fmt::format("libcudnn is version {}, this build was made for {}.x", library.version(), CUDNN_MAJOR);
  }
  return library;
}

const LibraryVersionRegistration library_registration([] {
  const CudnnLibrary& library = cudnn_library();
  return LibraryVersion{"cuDNN", library.missing.empty() ? library.version() : library.missing, library.file};
});

}  // namespace

std::string CudnnLibrary::version() const {
  const std::size_t version = cudnnGetVersion();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

const CudnnLibrary& cudnn_library() {
  static const CudnnLibrary library = open_library();
  return library;
}

void require_cudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const std::string text = fmt::format("{}: {}", call, cudnn_library().cudnnGetErrorString(status));
  if (status / kStatusesOfAKind == CUDNN_STATUS_NOT_SUPPORTED / kStatusesOfAKind) throw NothingForSize(text);
  throw DeviceError(text);
}

}  // namespace convladder
