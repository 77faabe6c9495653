// cuGetProcAddress, and what it is not.
#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/driver/answer.hpp"
#include "simulator/stand_in/driver/entry_points.hpp"

using namespace convladder::stand_in;

extern "C" {

CUresult cuGetProcAddress_v2(const char* name, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* found) {
  return answer_driver("cuGetProcAddress", Needs::nothing, [&](Machine&) {
    constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    require(name != nullptr && address != nullptr && (flags & ~kFlags) == 0);
    require(version <= kCudaVersion);
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
  return answer_driver("cuGetExportTable", Needs::nothing, [](Machine& machine) {
    machine.report.not_supported("cuGetExportTable");
    machine.report.note(
        "the program asks for undocumented tables of the driver, as the CUDA runtime does that is linked statically: "
        "link it with nvcc -cudart shared (CMake: CUDA_RUNTIME_LIBRARY Shared)");
    throw Failure(kNotSupported);
  });
}

}  // extern "C"
