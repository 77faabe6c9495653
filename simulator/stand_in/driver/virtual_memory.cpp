// Virtual memory management, and memory that other processes have made.
#include "simulator/stand_in/virtual_memory.hpp"

#include <unistd.h>

#include <bit>

#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

namespace {

CUmemGenericAllocationHandle handle_of(const PhysicalMemory& memory) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(&memory);
}

PhysicalMemory& memory_of(CUmemGenericAllocationHandle handle) {
  return VirtualMemory::get().at(reinterpret_cast<const void*>(handle));  // NOLINT(performance-no-int-to-ptr)
}

/// Requires what cuMemCreate can make here: memory of a device, which other processes may get as a file.
void require_possible(const CUmemAllocationProp* wanted) {
  require(wanted != nullptr && wanted->type == CU_MEM_ALLOCATION_TYPE_PINNED);
  const CUmemLocationType where = wanted->location.type;
  if (where == CU_MEM_LOCATION_TYPE_HOST || where == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
      where == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) {
    throw Failure(kNotSupported, "virtual memory of the host");
  }
  require(where == CU_MEM_LOCATION_TYPE_DEVICE);
  require_device(wanted->location.id);
  const auto others = static_cast<unsigned>(wanted->requestedHandleTypes) &
                      ~static_cast<unsigned>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (others != 0) throw Failure(kNotSupported, "memory whose handle is no file descriptor");
}

void require_size(std::size_t bytes) { require(bytes > 0 && bytes % kGranularity == 0); }

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* wanted,
                                       CUmemAllocationGranularity_flags option) {
  return after_init("cuMemGetAllocationGranularity", [&](Machine&) {
    require_possible(wanted);
    require(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    give(bytes, static_cast<std::size_t>(kGranularity));
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr /*wish*/,
                             unsigned long long flags) {
  return after_init("cuMemAddressReserve", [&](Machine& machine) {
    require(address != nullptr && flags == 0 && (alignment == 0 || std::has_single_bit(alignment)));
    require_size(bytes);
    *address = number_of(VirtualMemory::get().reserve(machine, bytes, alignment));
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return after_init("cuMemAddressFree",
                    [&](Machine& machine) { VirtualMemory::give_back(machine, address_of(address), bytes); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* wanted,
                     unsigned long long flags) {
  return after_init("cuMemCreate", [&](Machine& machine) {
    require(handle != nullptr && flags == 0);
    require_possible(wanted);
    require_size(bytes);
    const bool may_be_exported = wanted->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    *handle = handle_of(VirtualMemory::get().create(machine, bytes, wanted->location.id, may_be_exported));
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return after_init("cuMemRelease",
                    [&](Machine& machine) { VirtualMemory::get().release(machine, memory_of(handle)); });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return after_init("cuMemMap", [&](Machine& machine) {
    require(flags == 0 && offset == 0 && address % kGranularity == 0);
    require_size(bytes);
    VirtualMemory::get().map(machine, address_of(address), bytes, memory_of(handle));
  });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return after_init("cuMemUnmap", [&](Machine& machine) {
    require_size(bytes);
    VirtualMemory::get().unmap(machine, address_of(address), bytes);
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* list, std::size_t count) {
  return after_init("cuMemSetAccess", [&](Machine& machine) {
    require(list != nullptr && count > 0);
    require_size(bytes);
    for (std::size_t i = 0; i < count; ++i) {
      if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        throw Failure(kNotSupported, "access of the host to memory of a device");
      }
      require_device(list[i].location.id);
      const CUmemAccess_flags flags = list[i].flags;
      require(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
              flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
      VirtualMemory::get().set_access(machine, address_of(address), bytes, list[i].location.id,
                                      flags != CU_MEM_ACCESS_FLAGS_PROT_NONE,
                                      flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return after_init("cuMemGetAccess", [&](Machine&) {
    require(flags != nullptr && location != nullptr && location->type == CU_MEM_LOCATION_TYPE_DEVICE);
    require_device(location->id);
    const auto [may_read, may_write] = VirtualMemory::get().access(address_of(address), location->id);
    *flags = may_write  ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : may_read ? CU_MEM_ACCESS_FLAGS_PROT_READ
                        : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return after_init("cuMemGetAllocationPropertiesFromHandle", [&](Machine&) {
    const PhysicalMemory& memory = memory_of(handle);
    CUmemAllocationProp known = {};
    known.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    known.location = {CU_MEM_LOCATION_TYPE_DEVICE, memory.device};
    if (memory.may_be_exported) known.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    give(properties, known);
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return after_init("cuMemRetainAllocationHandle", [&](Machine&) {
    PhysicalMemory* const memory = VirtualMemory::get().mapped_at(address);
    require(memory != nullptr && handle != nullptr);
    ++memory->handles;
    *handle = handle_of(*memory);
  });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return after_init("cuMemExportToShareableHandle", [&](Machine&) {
    require(shareable != nullptr && flags == 0);
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) throw Failure(kNotSupported, "no file descriptor");
    const PhysicalMemory& memory = memory_of(handle);
    require(memory.may_be_exported);
    const int file = dup(memory.file);
    require(file >= 0, kOutOfMemory);
    *static_cast<int*>(shareable) = file;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  return after_init("cuMemImportFromShareableHandle", [&](Machine& machine) {
    require(handle != nullptr);
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) throw Failure(kNotSupported, "no file descriptor");
    const auto file = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    *handle = handle_of(VirtualMemory::get().import(machine, file));
  });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return forward("cuIpcGetMemHandle", cudaIpcGetMemHandle, reinterpret_cast<cudaIpcMemHandle_t*>(handle),
                 address_of(address));
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t));
  cudaIpcMemHandle_t same = {};
  std::copy_n(handle.reserved, sizeof same.reserved, same.reserved);
  return forward("cuIpcOpenMemHandle", cudaIpcOpenMemHandle, reinterpret_cast<void**>(address), same, flags);
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return forward("cuIpcCloseMemHandle", cudaIpcCloseMemHandle, address_of(address));
}

}  // extern "C"
