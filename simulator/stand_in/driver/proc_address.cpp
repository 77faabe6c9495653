// cuGetProcAddress, and what it is not.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/driver/answer.hpp"
#include "simulator/stand_in/driver/entry_points.hpp"
#include "simulator/stand_in/report/libraries_without_ptx.hpp"

using namespace convladder::stand_in;

namespace {

/// The name of the program or library that has code at an address.
std::string file_with(const void* address) {
  Dl_info info{};
  std::error_code error;
  const bool is_known = dladdr(address, &info) != 0 && info.dli_fname != nullptr;
  const std::filesystem::path path =
      is_known ? std::filesystem::path(info.dli_fname) : std::filesystem::read_symlink("/proc/self/exe", error);
  return path.filename().string();
}

/// How a package whose library has the runtime in it, without names, gives its kernels all the same; empty for others.
std::string way_of(const std::string& library) {
  if (library != "warp.so") return {};
  return "warp.so has the CUDA runtime linked into it, without names: nothing can stand in for that. Warp's way is to "
         "compile to PTX, wp.compile_aot_module(module, arch=90, module_dir=…, use_ptx=True), which convladder "
         "simulate "
         "FILE.ptx runs";
}

/// Whether it is one of NVIDIA's compilers: these ask the driver for more and do well without.
bool is_compiler(const std::string& library) {
  return library.starts_with("libnvrtc.so") || library.starts_with("libnvJitLink.so");
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* name, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* found) {
  // Bindings that are newer than this driver ask for all that they know, and do without: no line for each.
  if (version > kCudaVersion) return CUDA_ERROR_INVALID_VALUE;
  return answer_driver("cuGetProcAddress", Needs::nothing, [&](Machine&) {
    constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    require(name != nullptr && address != nullptr && (flags & ~kFlags) == 0);
    // Variants for a thread's own default stream are not distinguished: all threads share the default stream.
    const EntryPoint entry = driver_entry_point(name, version);
    *address = entry.address;
    if (found == nullptr) return;
    *found = entry.address != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
             : entry.is_known         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  });
}

CUresult cuGetProcAddress(const char* name, void** address, int version, cuuint64_t flags) {
  const CUresult status = cuGetProcAddress_v2(name, address, version, flags, nullptr);
  return status == CUDA_SUCCESS && *address == nullptr ? CUDA_ERROR_NOT_FOUND : status;
}

CUresult cuGetExportTable(const void** table, const CUuuid* /*id*/) {
  if (table != nullptr) *table = nullptr;
  const std::string caller = file_with(__builtin_return_address(0));
  if (is_compiler(caller)) return CUDA_ERROR_NOT_SUPPORTED;
  return answer_driver("cuGetExportTable", Needs::nothing, [&caller](Machine& machine) {
    machine.report.not_supported("cuGetExportTable");
    if (const std::string way = way_of(caller); !way.empty()) {
      machine.report.note(way);
    } else if (!holds_no_ptx(caller)) {
      machine.report.note(fmt::format(
          "{} asks the driver for tables that are not documented. If the CUDA runtime is linked into it, its functions "
          "cannot be found: do not strip it of its symbols, or link it with nvcc -cudart shared (CMake: "
          "CUDA_RUNTIME_LIBRARY Shared)",
          caller));
    }
    throw Failure(kNotSupported);
  });
}

}  // extern "C"
