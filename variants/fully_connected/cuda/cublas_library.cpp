#include "variants/fully_connected/cuda/cublas_library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "devices/device_error.hpp"
#include "support/dynamic_library.hpp"
#include "support/library_versions.hpp"

namespace convladder {
namespace {

CublasLibrary open_library() {
  CublasLibrary library;
  DynamicLibrary file({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  file.load(library.create, "cublasCreate_v2");
  file.load(library.destroy, "cublasDestroy_v2");
  file.load(library.get_property, "cublasGetProperty");
  file.load(library.set_math_mode, "cublasSetMathMode");
  file.load(library.sgemm, "cublasSgemm_v2");
  file.load(library.get_status_string, "cublasGetStatusString");
  library.missing = file.missing();
  library.file = file.file();
  return library;
}

const LibraryVersionRegistration library_registration([] {
  const CublasLibrary& library = cublas_library();
  return LibraryVersion{"cuBLAS", library.missing.empty() ? library.version() : library.missing, library.file};
});

}  // namespace

std::string CublasLibrary::version() const {
  std::array<int, 3> numbers{};
  const std::array properties = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    require_cublas(get_property(properties[i], &numbers[i]), "cublasGetProperty");
  return fmt::format("{}", fmt::join(numbers, "."));
}

const CublasLibrary& cublas_library() {
  static const CublasLibrary library = open_library();
  return library;
}

void require_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("{}: {}", call, cublas_library().get_status_string(status)));
}

}  // namespace convladder
