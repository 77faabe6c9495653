#include "simulator/stand_in/libraries/cublas/handle.hpp"

#include <string>

#include "simulator/stand_in/libraries/living_objects.hpp"

namespace convladder::stand_in {
int refuse_cublas_call(const char* function) noexcept;

const LibraryInfo kCublas = {
    .name = "cuBLAS",
    .status_name = [](int status) { return cublasGetStatusName(static_cast<cublasStatus_t>(status)); },
    .not_supported = CUBLAS_STATUS_NOT_SUPPORTED,
    .failed = CUBLAS_STATUS_EXECUTION_FAILED};

cublasContext& living(cublasHandle_t handle) {
  if (!living_objects().has(handle)) {
    throw Refused(CUBLAS_STATUS_NOT_INITIALIZED,
                  handle == nullptr ? "the handle is null" : "the handle is none that lives");
  }
  return *handle;
}

void require(bool holds, const char* why) {
  if (!holds) throw Refused(CUBLAS_STATUS_INVALID_VALUE, why);
}

int refuse_cublas_call(const char* function) noexcept {
  // The version is put behind the name by the header.
  std::string name = function;
  if (const std::size_t version = name.find("_v2"); version != std::string::npos) name.erase(version, 3);
  return library_machine().refuse(kCublas, name.c_str());
}

}  // namespace convladder::stand_in

using namespace convladder::stand_in;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return answer_call<cublasStatus_t>(kCublas, "cublasCreate", [&](LibraryCall&) {
    require(handle != nullptr, "the place for the handle is null");
    *handle = living_objects().add(new cublasContext);
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return answer("cublasDestroy", handle, [&](LibraryCall&, cublasContext& context) {
    if (living_objects().remove(&context)) delete &context;
  });
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

}  // extern "C"
