#include "variants/fully_connected/cuda/cublas_library.hpp"

#include <fmt/format.h>

#include "devices/device_error.hpp"
#include "support/dynamic_library.hpp"

namespace convladder {
namespace {

CublasLibrary open_library() {
  CublasLibrary library;
  DynamicLibrary file({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  file.load(library.create, "cublasCreate_v2");
  file.load(library.destroy, "cublasDestroy_v2");
  file.load(library.get_version, "cublasGetVersion_v2");
  file.load(library.set_math_mode, "cublasSetMathMode");
  file.load(library.sgemm, "cublasSgemm_v2");
  file.load(library.get_status_string, "cublasGetStatusString");
  library.missing = file.missing();
  return library;
}

}  // namespace

const CublasLibrary& cublas_library() {
  static const CublasLibrary library = open_library();
  return library;
}

void require_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("{}: {}", call, cublas_library().get_status_string(status)));
}

}  // namespace convladder
