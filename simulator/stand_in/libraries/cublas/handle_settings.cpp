// Settings that a handle keeps, and copies of vectors and matrices.
#include <cstring>

#include "simulator/stand_in/libraries/cublas/functions.hpp"

using namespace convladder::stand_in;

namespace {

template <typename T>
void give(T* place, T value) {
  require(place != nullptr, "the place for the result is null");
  *place = value;
}

template <typename T>
cublasStatus_t get(const char* name, cublasHandle_t handle, T* place, T cublasContext::*member) {
  return answer(name, handle, [&](LibraryCall&, cublasContext& context) { give(place, context.*member); });
}

template <typename T>
cublasStatus_t set(const char* name, cublasHandle_t handle, T value, T cublasContext::*member, bool is_right = true) {
  return answer(name, handle, [&](LibraryCall&, cublasContext& context) {
    require(is_right, "no such value");
    context.*member = value;
  });
}

/// Copies a vector or a matrix between the host and the device: `rows` elements of `columns`, `*_pitch` apart.
cublasStatus_t copy(const char* name, std::int64_t rows, std::int64_t columns, std::int64_t element, const void* from,
                    std::int64_t from_pitch, void* to, std::int64_t to_pitch, cudaStream_t stream, bool host_waits) {
  return answer_call<cublasStatus_t>(kCublas, name, [&](LibraryCall& call) {
    require(rows >= 0 && columns >= 0, "a size is negative");
    require(element > 0, "the size of an element is not positive");
    require(from_pitch >= rows && to_pitch >= rows && from_pitch > 0 && to_pitch > 0,
            "an increment or a leading dimension is too small");
    if (rows == 0 || columns == 0) return;
    require(from != nullptr && to != nullptr, "a pointer is null");
    if (from_pitch == rows && to_pitch == rows) {  // in one piece
      rows *= columns;
      columns = 1;
      from_pitch = to_pitch = rows;
    }
    const auto bytes = [element](std::int64_t count) { return static_cast<std::size_t>(count * element); };
    const Enqueued end = call.copy({to, bytes(to_pitch)}, {const_cast<void*>(from), bytes(from_pitch)}, bytes(rows),
                                   static_cast<std::size_t>(columns), stream, host_waits);
    if (end != Enqueued::done) throw Refused(CUBLAS_STATUS_MAPPING_ERROR, call.why());
  });
}

}  // namespace

extern "C" {

cublasStatus_t cublasGetVersion_v2(cublasHandle_t /*handle*/, int* version) {  // programs ask without a handle, too
  return answer_fact<cublasStatus_t>(kCublas, "cublasGetVersion", [&] { give(version, CUBLAS_VERSION); });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return answer_fact<cublasStatus_t>(kCublas, "cublasGetProperty", [&] {
    require(type == MAJOR_VERSION || type == MINOR_VERSION || type == PATCH_LEVEL, "no such property");
    give(value, type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : type == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH);
  });
}

std::size_t cublasGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  return answer("cublasSetWorkspace", handle, [&](LibraryCall& call, cublasContext&) {
    require(bytes == 0 || workspace == nullptr || call.is_of_device(workspace),
            "the workspace is no memory of the device");
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return set("cublasSetStream", handle, stream, &cublasContext::stream);
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return get("cublasGetStream", handle, stream, &cublasContext::stream);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return set("cublasSetPointerMode", handle, mode, &cublasContext::pointer_mode,
             mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return get("cublasGetPointerMode", handle, mode, &cublasContext::pointer_mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return set("cublasSetAtomicsMode", handle, mode, &cublasContext::atomics_mode,
             mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return get("cublasGetAtomicsMode", handle, mode, &cublasContext::atomics_mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set("cublasSetMathMode", handle, mode, &cublasContext::math_mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return get("cublasGetMathMode", handle, mode, &cublasContext::math_mode);
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return set("cublasSetSmCountTarget", handle, count, &cublasContext::multiprocessors, count >= 0);
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return get("cublasGetSmCountTarget", handle, count, &cublasContext::multiprocessors);
}

#if CUBLAS_VERSION >= 130100
#define EMULATION(name, type, member, is_right)                                     \
  cublasStatus_t cublasSet##name(cublasHandle_t handle, type value) {               \
    return set("cublasSet" #name, handle, value, &cublasContext::member, is_right); \
  }                                                                                 \
  cublasStatus_t cublasGet##name(cublasHandle_t handle, type* value) {              \
    return get("cublasGet" #name, handle, value, &cublasContext::member);           \
  }
EMULATION(EmulationStrategy, cublasEmulationStrategy_t, emulation,
          value >= CUBLAS_EMULATION_STRATEGY_DEFAULT && value <= CUBLAS_EMULATION_STRATEGY_EAGER)
EMULATION(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values, true)
EMULATION(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control,
          value == CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC || value == CUDA_EMULATION_MANTISSA_CONTROL_FIXED)
EMULATION(FixedPointEmulationMaxMantissaBitCount, int, most_mantissa_bits, value >= 0)
EMULATION(FixedPointEmulationMantissaBitOffset, int, mantissa_offset, true)
#endif

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an invalid value was used as a parameter";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "an absent device architectural feature is required";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "an access to GPU memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "an error was detected when checking the current licensing";
  }
  return "unknown status";
}

cublasStatus_t cublasLoggerConfigure(int /*is_on*/, int /*to_stdout*/, int /*to_stderr*/, const char* /*file*/) {
  return answer_call<cublasStatus_t>(kCublas, "cublasLoggerConfigure", [](LibraryCall&) {});
}

#define COPIES(Int, tail)                                                                                              \
  cublasStatus_t cublasSetVector##tail(Int n, Int size, const void* x, Int incx, void* y, Int incy) {                  \
    return copy("cublasSetVector" #tail, 1, n, size, x, incx, y, incy, nullptr, true);                                 \
  }                                                                                                                    \
  cublasStatus_t cublasGetVector##tail(Int n, Int size, const void* x, Int incx, void* y, Int incy) {                  \
    return copy("cublasGetVector" #tail, 1, n, size, x, incx, y, incy, nullptr, true);                                 \
  }                                                                                                                    \
  cublasStatus_t cublasSetMatrix##tail(Int rows, Int columns, Int size, const void* A, Int lda, void* B, Int ldb) {    \
    return copy("cublasSetMatrix" #tail, rows, columns, size, A, lda, B, ldb, nullptr, true);                          \
  }                                                                                                                    \
  cublasStatus_t cublasGetMatrix##tail(Int rows, Int columns, Int size, const void* A, Int lda, void* B, Int ldb) {    \
    return copy("cublasGetMatrix" #tail, rows, columns, size, A, lda, B, ldb, nullptr, true);                          \
  }                                                                                                                    \
  cublasStatus_t cublasSetVectorAsync##tail(Int n, Int size, const void* x, Int incx, void* y, Int incy,               \
                                            cudaStream_t stream) {                                                     \
    return copy("cublasSetVectorAsync" #tail, 1, n, size, x, incx, y, incy, stream, false);                            \
  }                                                                                                                    \
  cublasStatus_t cublasGetVectorAsync##tail(Int n, Int size, const void* x, Int incx, void* y, Int incy,               \
                                            cudaStream_t stream) {                                                     \
    return copy("cublasGetVectorAsync" #tail, 1, n, size, x, incx, y, incy, stream, false);                            \
  }                                                                                                                    \
  cublasStatus_t cublasSetMatrixAsync##tail(Int rows, Int columns, Int size, const void* A, Int lda, void* B, Int ldb, \
                                            cudaStream_t stream) {                                                     \
    return copy("cublasSetMatrixAsync" #tail, rows, columns, size, A, lda, B, ldb, stream, false);                     \
  }                                                                                                                    \
  cublasStatus_t cublasGetMatrixAsync##tail(Int rows, Int columns, Int size, const void* A, Int lda, void* B, Int ldb, \
                                            cudaStream_t stream) {                                                     \
    return copy("cublasGetMatrixAsync" #tail, rows, columns, size, A, lda, B, ldb, stream, false);                     \
  }
COPIES(int, )
COPIES(std::int64_t, _64)

}  // extern "C"
