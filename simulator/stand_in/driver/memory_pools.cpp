// Memory pools by the driver's names: the runtime's functions do the work, their types are the same in memory.
#include "simulator/stand_in/memory_pools.hpp"

#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

namespace {

static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps) &&
              sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
static_assert(static_cast<int>(CU_MEMPOOL_ATTR_USED_MEM_HIGH) == static_cast<int>(cudaMemPoolAttrUsedMemHigh));

cudaMemLocation* place_of(CUmemLocation* location) { return reinterpret_cast<cudaMemLocation*>(location); }

}  // namespace

extern "C" {

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  void* made = nullptr;
  const CUresult status = forward("cuMemAllocFromPoolAsync", cudaMallocFromPoolAsync,
                                  address == nullptr ? nullptr : &made, bytes, pool, stream);
  if (status == CUDA_SUCCESS && address != nullptr) *address = number_of(made);
  return status;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return forward("cuMemPoolCreate", cudaMemPoolCreate, pool, reinterpret_cast<const cudaMemPoolProps*>(properties));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) { return forward("cuMemPoolDestroy", cudaMemPoolDestroy, pool); }

CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t kept) {
  return forward("cuMemPoolTrimTo", cudaMemPoolTrimTo, pool, kept);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return forward("cuMemPoolGetAttribute", cudaMemPoolGetAttribute, pool, static_cast<cudaMemPoolAttr>(attribute),
                 value);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return forward("cuMemPoolSetAttribute", cudaMemPoolSetAttribute, pool, static_cast<cudaMemPoolAttr>(attribute),
                 value);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, std::size_t count) {
  return forward("cuMemPoolSetAccess", cudaMemPoolSetAccess, pool, reinterpret_cast<const cudaMemAccessDesc*>(list),
                 count);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return forward("cuMemPoolGetAccess", cudaMemPoolGetAccess, reinterpret_cast<cudaMemAccessFlags*>(flags), pool,
                 place_of(location));
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return answer_driver("cuDeviceGetDefaultMemPool", Needs::initialization, [&](Machine& machine) {
    require_device(device);
    give(pool, reinterpret_cast<CUmemoryPool>(&machine.pools().of_device(device)));
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return answer_driver("cuDeviceGetMemPool", Needs::initialization, [&](Machine& machine) {
    require_device(device);
    give(pool, reinterpret_cast<CUmemoryPool>(&machine.pools().current(device)));
  });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return answer_driver("cuDeviceSetMemPool", Needs::initialization, [&](Machine& machine) {
    require_device(device);
    MemoryPool& found = machine.pools().at(pool);
    require(found.device == device);
    machine.pools().use(device, found);
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return forward("cuMemGetDefaultMemPool", cudaMemGetDefaultMemPool, pool, place_of(location),
                 static_cast<cudaMemAllocationType>(type));
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return forward("cuMemGetMemPool", cudaMemGetMemPool, pool, place_of(location),
                 static_cast<cudaMemAllocationType>(type));
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return forward("cuMemSetMemPool", cudaMemSetMemPool, place_of(location), static_cast<cudaMemAllocationType>(type),
                 pool);
}

}  // extern "C"
