// C++ text for every source that launch_plan.cpp writes, and python_stages.cpp. Its names begin with convladder_, since
// the user's names stand beside them.
#pragma once

namespace convladder {

/// The functions that Expression::c_text uses.
inline constexpr const char* kExpressionText = R"text(#include <math.h>
static inline double convladder_min(double a, double b) { return b < a ? b : a; }
static inline double convladder_max(double a, double b) { return a < b ? b : a; }
static inline double convladder_mod(double a, double b) { return a - b * floor(a / b); }
)text";

inline constexpr const char* kLaunchText = R"text(#include <stdio.h>
static char convladder_failure[2048];
extern "C" const char* convladder_launch_failure() { return convladder_failure[0] == 0 ? nullptr : convladder_failure; }
static inline bool convladder_whole(const char* place, const char* text, double value, double least, double most, long long* whole) {
  if (value >= least && value <= most && value == floor(value)) {
    *whole = (long long)value;
    return true;
  }
  snprintf(convladder_failure, sizeof convladder_failure, "%s: '%s' is %.10g, it must be a whole number from %.0f to %.0f",
           place, text, value, least, most);
  return false;
}
)text";

inline constexpr const char* kCudaLaunchText =
    R"text(static inline bool convladder_succeeded(const char* place, cudaError_t status) {
  if (status == cudaSuccess) return true;
  snprintf(convladder_failure, sizeof convladder_failure, "%s: %s (%s)", place, cudaGetErrorName(status),
           cudaGetErrorString(status));
  return false;
}
)text";

/// The text that launches PTX, behind `convladder_modules`. It uses the driver that this process has loaded, or the
/// system's. A module is loaded once and stays.
inline constexpr const char* kPtxLaunchText = R"text(#include <dlfcn.h>
static struct {
  int (*cuInit)(unsigned);
  int (*cuDeviceGet)(int*, int);
  int (*cuDevicePrimaryCtxRetain)(void**, int);
  int (*cuCtxGetCurrent)(void**);
  int (*cuCtxSetCurrent)(void*);
  int (*cuModuleLoadDataEx)(void**, const void*, unsigned, int*, void**);
  int (*cuModuleGetFunction)(void**, void*, const char*);
  int (*cuFuncSetAttribute)(void*, int, int);
  int (*cuLaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
  int (*cuMemAlloc_v2)(unsigned long long*, size_t);
  int (*cuMemFree_v2)(unsigned long long);
  int (*cuGetErrorName)(int, const char**);
  int (*cuGetErrorString)(int, const char**);
} convladder_driver;
static char convladder_log[1024];
static bool convladder_succeeded(const char* place, const char* call, int status) {
  if (status == 0) return true;
  const char* name = nullptr;
  const char* text = nullptr;
  convladder_driver.cuGetErrorName(status, &name);
  convladder_driver.cuGetErrorString(status, &text);
  snprintf(convladder_failure, sizeof convladder_failure, "%s: %s: %s (%s)%s%s", place, call, name == nullptr ? "?" : name,
           text == nullptr ? "?" : text, convladder_log[0] == 0 ? "" : ": ", convladder_log);
  return false;
}
template <typename Function>
static bool convladder_find(const char* place, void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) snprintf(convladder_failure, sizeof convladder_failure, "%s: libcuda.so.1 has no %s", place, name);
  return function != nullptr;
}
static bool convladder_connect(const char* place) {
  if (convladder_driver.cuGetErrorString != nullptr) return true;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    snprintf(convladder_failure, sizeof convladder_failure, "%s: the CUDA driver cannot be loaded: %s", place, dlerror());
    return false;
  }
  auto& d = convladder_driver;
#define CONVLADDER_FIND(name) convladder_find(place, library, #name, d.name)
  if (!CONVLADDER_FIND(cuInit) || !CONVLADDER_FIND(cuDeviceGet) || !CONVLADDER_FIND(cuDevicePrimaryCtxRetain) ||
      !CONVLADDER_FIND(cuCtxGetCurrent) || !CONVLADDER_FIND(cuCtxSetCurrent) || !CONVLADDER_FIND(cuModuleLoadDataEx) ||
      !CONVLADDER_FIND(cuModuleGetFunction) || !CONVLADDER_FIND(cuFuncSetAttribute) || !CONVLADDER_FIND(cuLaunchKernel) ||
      !CONVLADDER_FIND(cuMemAlloc_v2) || !CONVLADDER_FIND(cuMemFree_v2) || !CONVLADDER_FIND(cuGetErrorName) || !CONVLADDER_FIND(cuGetErrorString)) {
    return false;
  }
#undef CONVLADDER_FIND
  return true;
}
static bool convladder_load(const char* place, convladder_module* module) {
  if (!convladder_connect(place)) return false;
  auto& d = convladder_driver;
  void* context = nullptr;
  if (!convladder_succeeded(place, "cuInit", d.cuInit(0)) ||
      !convladder_succeeded(place, "cuCtxGetCurrent", d.cuCtxGetCurrent(&context))) {
    return false;
  }
  if (context == nullptr) {
    int device = 0;
    if (!convladder_succeeded(place, "cuDeviceGet", d.cuDeviceGet(&device, 0)) ||
        !convladder_succeeded(place, "cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain(&context, device)) ||
        !convladder_succeeded(place, "cuCtxSetCurrent", d.cuCtxSetCurrent(context))) {
      return false;
    }
  }
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size in bytes
  void* values[] = {convladder_log, reinterpret_cast<void*>(sizeof convladder_log)};
  void* loaded = nullptr;
  if (!convladder_succeeded(place, "cuModuleLoadDataEx", d.cuModuleLoadDataEx(&loaded, module->ptx, 2, options, values))) {
    return false;
  }
  convladder_log[0] = 0;
  module->loaded = loaded;
  return true;
}
/// Memory of the kernel's own, for each of its blocks: as much as the largest launch so far needs.
static bool convladder_scratch(const char* place, convladder_module* module, long long bytes, const long long* sizes,
                               unsigned long long* address, long long* held) {
  if (module->loaded == nullptr && !convladder_load(place, module)) return false;
  const long long wanted = bytes * sizes[0] * sizes[1] * sizes[2];
  if (wanted <= *held) return true;
  auto& d = convladder_driver;
  if (*held > 0 && !convladder_succeeded(place, "cuMemFree", d.cuMemFree_v2(*address))) return false;
  *held = 0;
  if (!convladder_succeeded(place, "cuMemAlloc", d.cuMemAlloc_v2(address, (size_t)wanted))) return false;
  *held = wanted;
  return true;
}
static bool convladder_launch(const char* place, convladder_module* module, const char* kernel, void** function,
                              long long* granted, const long long* sizes, void** arguments) {
  if (module->loaded == nullptr && !convladder_load(place, module)) return false;
  auto& d = convladder_driver;
  if (*function == nullptr &&
      !convladder_succeeded(place, "cuModuleGetFunction", d.cuModuleGetFunction(function, module->loaded, kernel))) {
    return false;
  }
  if (sizes[6] > *granted) {
    // 8: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    if (!convladder_succeeded(place, "cuFuncSetAttribute", d.cuFuncSetAttribute(*function, 8, (int)sizes[6]))) return false;
    *granted = sizes[6];
  }
  const auto size = [sizes](int which) { return (unsigned)sizes[which]; };
  return convladder_succeeded(place, "cuLaunchKernel",
                              d.cuLaunchKernel(*function, size(0), size(1), size(2), size(3), size(4), size(5), size(6),
                                               nullptr, arguments, nullptr));
}
)text";

}  // namespace convladder
