// The part of cuBLAS that the fully connected layer uses, opened at run time: the program starts without it.
#pragma once

#include <cublas_v2.h>

#include <string>

namespace convladder {

/// cuBLAS's functions by the names that its library exports, with the types of its header.
struct CublasLibrary {
  decltype(&::cublasCreate_v2) create = nullptr;
  decltype(&::cublasDestroy_v2) destroy = nullptr;
  decltype(&::cublasGetProperty) get_property = nullptr;
  decltype(&::cublasSetMathMode) set_math_mode = nullptr;
  decltype(&::cublasSgemm_v2) sgemm = nullptr;
  decltype(&::cublasGetStatusString) get_status_string = nullptr;

  std::string missing;  ///< empty if everything was found, otherwise why the library cannot be used
  std::string file;     ///< full path

  std::string version() const;  ///< "13.0.2"
};

/// Opens libcublas.so of the toolkit's version, or of another that has the same functions, once. For a cuBLAS installed
/// by pip, LD_LIBRARY_PATH=<site-packages>/nvidia/cublas/lib.
const CublasLibrary& cublas_library();

/// Throws DeviceError, "cublasCreate: <text>", unless `status` is success.
void require_cublas(cublasStatus_t status, const char* call);

}  // namespace convladder
