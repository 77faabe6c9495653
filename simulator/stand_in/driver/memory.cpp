// Memory: on the device, managed, pinned, and queries about addresses.
#include <algorithm>

#include "simulator/stand_in/driver/answer.hpp"
#include "simulator/stand_in/graph.hpp"

using namespace convladder::stand_in;

namespace {

CUresult allocate(const char* name, CUdeviceptr* address, MemoryKind kind, std::size_t bytes, unsigned flags) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    require(address != nullptr && bytes > 0);
    machine.graphs().do_unsafe();
    *address = number_of(machine.allocate(kind, bytes, flags, name));
  });
}

CUresult allocate_pinned(const char* name, void** address, std::size_t bytes, unsigned flags) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    require(address != nullptr && bytes > 0 && flags < 8);
    machine.graphs().do_unsafe();
    *address = machine.allocate(MemoryKind::pinned, bytes, flags, name);
  });
}

/// Writes an attribute of an address to `place`, in the attribute's type.
void give_attribute(Machine& machine, void* place, CUpointer_attribute attribute, CUdeviceptr address) {
  require(place != nullptr);
  std::uint64_t begin = 0;
  const Memory* const memory = machine.memory_at(address_of(address), &begin);
  require(memory != nullptr);
  const bool is_host = memory->kind == MemoryKind::pinned || memory->kind == MemoryKind::registered;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<const DeviceContext**>(place) = memory->context;
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(place) = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(place) = address;
      break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      require(memory->kind != MemoryKind::device);
      *static_cast<void**>(place) = address_of(address);
      break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      *static_cast<int*>(place) = 0;
      break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(place) = memory->number;
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<int*>(place) = memory->kind == MemoryKind::managed ? 1 : 0;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(place) = memory->context == nullptr ? 0 : memory->context->device;
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(place) = begin;
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::size_t*>(place) = memory->bytes;
      break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<int*>(place) = 1;
      break;
    default:
      throw Failure(attribute > 0 && attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE ? kNotSupported
                                                                                                : kInvalidValue);
  }
}

/// A location as functions before CUDA 13 give it.
CUmemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/// The attribute of an address that is not ours, where several attributes are asked for at once.
void give_nothing(void* place, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(place) = -2;
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      *static_cast<int*>(place) = 0;
      break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::uint64_t*>(place) = 0;
      break;
    default:
      throw Failure(kNotSupported);
  }
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return allocate("cuMemAlloc", address, MemoryKind::device, bytes, 0);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                            unsigned element_bytes) {
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) {
    return answer_driver("cuMemAllocPitch", Needs::context, [](Machine&) { throw Failure(kInvalidValue); });
  }
  void* made = nullptr;
  const CUresult status = forward("cuMemAllocPitch", cudaMallocPitch, &made, pitch, width, height);
  if (status == CUDA_SUCCESS && address != nullptr) *address = number_of(made);
  return status;
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  const bool is_known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
  return allocate("cuMemAllocManaged", is_known ? address : nullptr, MemoryKind::managed, bytes, flags);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  void* made = nullptr;
  const CUresult status = forward("cuMemAllocAsync", cudaMallocAsync, &made, address == nullptr ? 0 : bytes, stream);
  if (status == CUDA_SUCCESS && address != nullptr) *address = number_of(made);
  return address == nullptr && status == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : status;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return forward("cuMemFreeAsync", cudaFreeAsync, address_of(address), stream);
}

CUresult cuMemFree_v2(CUdeviceptr address) { return forward("cuMemFree", cudaFree, address_of(address)); }

CUresult cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return allocate_pinned("cuMemAllocHost", address, bytes, 0);
}

CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return allocate_pinned("cuMemHostAlloc", address, bytes, flags);
}

CUresult cuMemFreeHost(void* address) { return forward("cuMemFreeHost", cudaFreeHost, address); }

CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
  return forward("cuMemHostRegister", cudaHostRegister, address, bytes, flags);
}
CUresult cuMemHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(address, bytes, flags);
}

CUresult cuMemHostUnregister(void* address) { return forward("cuMemHostUnregister", cudaHostUnregister, address); }

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
  return forward("cuMemHostGetDevicePointer", cudaHostGetDevicePointer, reinterpret_cast<void**>(address), host, flags);
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return forward("cuMemHostGetFlags", cudaHostGetFlags, flags, host);
}

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return forward("cuMemGetInfo", cudaMemGetInfo, free, total);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  return answer_driver("cuMemGetAddressRange", Needs::context, [&](Machine& machine) {
    std::uint64_t found = 0;
    const Memory* const memory = machine.memory_at(address_of(address), &found);
    require(memory != nullptr, kSymbolNotFound);
    if (begin != nullptr) *begin = found;
    if (bytes != nullptr) *bytes = memory->bytes;
  });
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return answer_driver("cuPointerGetAttribute", Needs::context,
                       [&](Machine& machine) { give_attribute(machine, value, attribute, address); });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr address) {
  return answer_driver("cuPointerGetAttributes", Needs::context, [&](Machine& machine) {
    require(count > 0 && attributes != nullptr && values != nullptr);
    const bool is_known = machine.memory_at(address_of(address)) != nullptr;
    for (unsigned i = 0; i < count; ++i) {
      require(values[i] != nullptr);
      give_nothing(values[i], attributes[i]);
      const bool has_it = attributes[i] != CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                          (is_known && machine.memory_at(address_of(address))->kind != MemoryKind::device);
      if (is_known && has_it) give_attribute(machine, values[i], attributes[i], address);
    }
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return answer_driver("cuPointerSetAttribute", Needs::context, [&](Machine& machine) {
    // Copies are done when their call returns, so this attribute changes nothing.
    require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    require(machine.memory_at(address_of(address)) != nullptr);
  });
}

CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUmemLocation location) {
  const cudaMemLocation same{static_cast<cudaMemLocationType>(location.type), location.id};
  return forward("cuMemAdvise", cudaMemAdvise, static_cast<const void*>(address_of(address)), bytes,
                 static_cast<cudaMemoryAdvise>(advice), same);
}
CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(address, bytes, advice, location_of(device));
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, CUmemLocation location, unsigned flags,
                               CUstream stream) {
  const cudaMemLocation same{static_cast<cudaMemLocationType>(location.type), location.id};
  return forward("cuMemPrefetchAsync", cudaMemPrefetchAsync, static_cast<const void*>(address_of(address)), bytes, same,
                 flags, stream);
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, location_of(device), 0, stream);
}

CUresult cuMemRangeGetAttribute(void* data, std::size_t bytes, CUmem_range_attribute attribute, CUdeviceptr address,
                                std::size_t count) {
  return forward("cuMemRangeGetAttribute", cudaMemRangeGetAttribute, data, bytes,
                 static_cast<cudaMemRangeAttribute>(attribute), static_cast<const void*>(address_of(address)), count);
}
CUresult cuMemRangeGetAttributes(void** data, std::size_t* bytes, CUmem_range_attribute* attributes, std::size_t number,
                                 CUdeviceptr address, std::size_t count) {
  return forward("cuMemRangeGetAttributes", cudaMemRangeGetAttributes, data, bytes,
                 reinterpret_cast<cudaMemRangeAttribute*>(attributes), number,
                 static_cast<const void*>(address_of(address)), count);
}

}  // extern "C"
