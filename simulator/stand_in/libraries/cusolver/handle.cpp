#include "simulator/stand_in/libraries/cusolver/handle.hpp"

#include "simulator/stand_in/libraries/living_objects.hpp"

namespace convladder::stand_in {
namespace {

template <typename T>
void make(T** place) {
  require(place != nullptr, "the place for what is made is null");
  *place = living_objects().add(new T);
}

template <typename T>
void destroy(T* object) {
  require(living_objects().remove(object), "it is none that lives");
  delete object;
}

const char* status_name(int status) {
  switch (status) {
    case CUSOLVER_STATUS_SUCCESS:
      return "CUSOLVER_STATUS_SUCCESS";
    case CUSOLVER_STATUS_NOT_INITIALIZED:
      return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
      return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
      return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_ARCH_MISMATCH:
      return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
      return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_INTERNAL_ERROR:
      return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
      return "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
      return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default:
      return "another status of cuSOLVER";
  }
}

}  // namespace

int refuse_cusolver_call(const char* function) noexcept;

const LibraryInfo kCusolver = {.name = "cuSOLVER",
                               .status_name = status_name,
                               .not_supported = CUSOLVER_STATUS_NOT_SUPPORTED,
                               .failed = CUSOLVER_STATUS_EXECUTION_FAILED};

cusolverDnContext& living(cusolverDnHandle_t handle) {
  if (!living_objects().has(handle)) {
    throw Refused(CUSOLVER_STATUS_NOT_INITIALIZED,
                  handle == nullptr ? "the handle is null" : "the handle is none that lives");
  }
  return *handle;
}

void require(bool holds, const char* why) {
  if (!holds) throw Refused(CUSOLVER_STATUS_INVALID_VALUE, why);
}

int refuse_cusolver_call(const char* function) noexcept { return library_machine().refuse(kCusolver, function); }

}  // namespace convladder::stand_in

using namespace convladder::stand_in;

/// Settings of functions that are computed in one way here: they are kept and change nothing.
struct cusolverDnParams {};
struct syevjInfo {};
struct gesvdjInfo {};

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  return answer_call<cusolverStatus_t>(kCusolver, "cusolverDnCreate", [&](LibraryCall&) { make(handle); });
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return answer("cusolverDnDestroy", handle, [&](LibraryCall&, cusolverDnContext& context) { destroy(&context); });
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  return answer("cusolverDnSetStream", handle,
                [&](LibraryCall&, cusolverDnContext& context) { context.stream = stream; });
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return answer("cusolverDnGetStream", handle, [&](LibraryCall&, cusolverDnContext& context) {
    require(stream != nullptr, "the place for the stream is null");
    *stream = context.stream;
  });
}
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode) {
  return answer("cusolverDnSetDeterministicMode", handle,
                [&](LibraryCall&, cusolverDnContext& context) { context.mode = mode; });
}
cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t* mode) {
  return answer("cusolverDnGetDeterministicMode", handle, [&](LibraryCall&, cusolverDnContext& context) {
    require(mode != nullptr, "the place for the mode is null");
    *mode = context.mode;
  });
}

cusolverStatus_t cusolverGetVersion(int* version) {
  return answer_fact<cusolverStatus_t>(kCusolver, "cusolverGetVersion", [&] {
    require(version != nullptr, "the place for the version is null");
    *version = CUSOLVER_VERSION;
  });
}
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  return answer_fact<cusolverStatus_t>(kCusolver, "cusolverGetProperty", [&] {
    require(value != nullptr, "the place for the value is null");
    require(type == MAJOR_VERSION || type == MINOR_VERSION || type == PATCH_LEVEL, "no such property");
    *value = type == MAJOR_VERSION   ? CUSOLVER_VER_MAJOR
             : type == MINOR_VERSION ? CUSOLVER_VER_MINOR
                                     : CUSOLVER_VER_PATCH;
  });
}

#define SETTINGS(Name, Type)                                                                                          \
  cusolverStatus_t cusolverDnCreate##Name(Type** info) {                                                              \
    return answer_call<cusolverStatus_t>(kCusolver, "cusolverDnCreate" #Name, [&](LibraryCall&) { make(info); });     \
  }                                                                                                                   \
  cusolverStatus_t cusolverDnDestroy##Name(Type* info) {                                                              \
    return answer_call<cusolverStatus_t>(kCusolver, "cusolverDnDestroy" #Name, [&](LibraryCall&) { destroy(info); }); \
  }
SETTINGS(Params, cusolverDnParams)
SETTINGS(SyevjInfo, syevjInfo)
SETTINGS(GesvdjInfo, gesvdjInfo)

#define KEPT(function, Type, Value)                                                  \
  cusolverStatus_t function(Type*, Value) {                                          \
    return answer_call<cusolverStatus_t>(kCusolver, #function, [](LibraryCall&) {}); \
  }
KEPT(cusolverDnXsyevjSetTolerance, syevjInfo, double)
KEPT(cusolverDnXsyevjSetMaxSweeps, syevjInfo, int)
KEPT(cusolverDnXsyevjSetSortEig, syevjInfo, int)
KEPT(cusolverDnXgesvdjSetTolerance, gesvdjInfo, double)
KEPT(cusolverDnXgesvdjSetMaxSweeps, gesvdjInfo, int)
KEPT(cusolverDnXgesvdjSetSortEig, gesvdjInfo, int)

// LAPACK computes directly what the real library does by Jacobi's sweeps: there were none, and nothing is left over.
#define TOLD(function, Type, Value)                                           \
  cusolverStatus_t function(cusolverDnHandle_t handle, Type*, Value* place) { \
    return answer(#function, handle, [&](LibraryCall&, cusolverDnContext&) {  \
      require(place != nullptr, "the place for the result is null");          \
      *place = 0;                                                             \
    });                                                                       \
  }
TOLD(cusolverDnXsyevjGetSweeps, syevjInfo, int)
TOLD(cusolverDnXsyevjGetResidual, syevjInfo, double)
TOLD(cusolverDnXgesvdjGetSweeps, gesvdjInfo, int)
TOLD(cusolverDnXgesvdjGetResidual, gesvdjInfo, double)

cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t, cusolverDnFunction_t, cusolverAlgMode_t) {
  return answer_call<cusolverStatus_t>(kCusolver, "cusolverDnSetAdvOptions", [](LibraryCall&) {});
}

}  // extern "C"
