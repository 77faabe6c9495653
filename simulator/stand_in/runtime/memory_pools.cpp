// Memory pools, and stream-ordered allocation. Nothing is shared with other processes.
#include "simulator/stand_in/memory_pools.hpp"

#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

cudaMemPool_t handle_of(MemoryPool& pool) { return reinterpret_cast<cudaMemPool_t>(&pool); }

/// Requires a location on a device.
void require_place(const cudaMemLocation* location) {
  require(location != nullptr);
  if (location->type == cudaMemLocationTypeHost || location->type == cudaMemLocationTypeHostNuma ||
      location->type == cudaMemLocationTypeHostNumaCurrent) {
    throw Failure(kNotSupported, "a memory pool of the host");
  }
  require(location->type == cudaMemLocationTypeDevice);
  require_device(location->id);
}

void require_pinned(cudaMemAllocationType type) {
  if (type == cudaMemAllocationTypeManaged) throw Failure(kNotSupported, "a memory pool of managed memory");
  require(type == cudaMemAllocationTypePinned);
}

cudaError_t allocate(const char* name, void** address, std::size_t bytes, cudaMemPool_t handle, bool is_current,
                     cudaStream_t stream) {
  return answer(name, [&](Machine& machine) {
    require(address != nullptr);
    const int number = machine.stream_number(stream);
    MemoryPool& pool =
        is_current ? machine.pools().current(machine.timeline.device_of(number)) : machine.pools().at(handle);
    const OnDevice on_device(machine, pool.device);
    MemoryPools::require_room(pool, bytes);
    *address = bytes == 0 ? nullptr : machine.allocate(MemoryKind::device, bytes, 0, called(name));
    if (bytes == 0) return;
    if (machine.graphs().capture(number, AllocationWork{*address, bytes})) {
      machine.graphs().add_memory(*address);
    } else {
      machine.pools().took(pool, *address, bytes);
      machine.let_devices(*address, pool.also_by);
    }
  });
}

std::uint64_t value_of(const MemoryPool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return pool.release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
      return pool.reserved;
    case cudaMemPoolAttrReservedMemHigh:
      return pool.most_reserved;
    case cudaMemPoolAttrUsedMemCurrent:
      return pool.used;
    case cudaMemPoolAttrUsedMemHigh:
      return pool.most_used;
    default:
      throw Failure(kInvalidValue);
  }
}

bool is_about_reuse(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

int& reuse_of(MemoryPool& pool, cudaMemPoolAttr attribute) {
  return pool.may_reuse[static_cast<std::size_t>(attribute - cudaMemPoolReuseFollowEventDependencies)];
}

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t stream) {
  return allocate("cudaMallocAsync", address, bytes, nullptr, true, stream);
}

cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return allocate("cudaMallocFromPoolAsync", address, bytes, pool, false, stream);
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return answer("cudaFreeAsync", [&](Machine& machine) {
    const int number = machine.stream_number(stream);
    if (address != nullptr && machine.graphs().capture(number, FreeWork{address})) {
      require(machine.graphs().is_memory(address));
      return;
    }
    machine.free(address, false, called("cudaFreeAsync"));
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return answer("cudaMemPoolCreate", [&](Machine& machine) {
    require(pool != nullptr && properties != nullptr);
    require_pinned(properties->allocType);
    require_place(&properties->location);
    if (properties->handleTypes != cudaMemHandleTypeNone) {
      throw Failure(kNotSupported, "a memory pool that is shared with other processes");
    }
    *pool = handle_of(machine.pools().add(properties->location.id, properties->maxSize));
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return answer("cudaMemPoolDestroy", [&](Machine& machine) { machine.pools().remove(machine.pools().at(pool)); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t kept) {
  return answer("cudaMemPoolTrimTo", [&](Machine& machine) { MemoryPools::trim(machine.pools().at(pool), kept); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return answer("cudaMemPoolGetAttribute", [&](Machine& machine) {
    MemoryPool& pool = machine.pools().at(handle);
    if (is_about_reuse(attribute)) {
      give(static_cast<int*>(value), reuse_of(pool, attribute));
    } else {
      give(static_cast<std::uint64_t*>(value), value_of(pool, attribute));
    }
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return answer("cudaMemPoolSetAttribute", [&](Machine& machine) {
    MemoryPool& pool = machine.pools().at(handle);
    require(value != nullptr);
    if (is_about_reuse(attribute)) {
      reuse_of(pool, attribute) = *static_cast<const int*>(value);
      return;
    }
    const std::uint64_t number = *static_cast<const std::uint64_t*>(value);
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
      pool.release_threshold = number;
      return;
    }
    // Highest values can only be reset; other attributes can only be read.
    require(number == 0 && (attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh));
    (attribute == cudaMemPoolAttrUsedMemHigh ? pool.most_used : pool.most_reserved) = 0;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
  return answer("cudaMemPoolSetAccess", [&](Machine& machine) {
    MemoryPool& found = machine.pools().at(pool);
    require(count == 0 || list != nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      require(list[i].location.type == cudaMemLocationTypeDevice);
      require_device(list[i].location.id);
      const bool is_own = list[i].location.id == found.device;
      const bool gives = list[i].flags == cudaMemAccessFlagsProtReadWrite;
      require(gives || (list[i].flags == cudaMemAccessFlagsProtNone && !is_own));  // nobody takes away its own
      const std::uint64_t bit = std::uint64_t{1} << list[i].location.id;
      if (!is_own) found.also_by = gives ? found.also_by | bit : found.also_by & ~bit;
    }
    for (const std::uint64_t address : machine.pools().memory_of(found)) {
      machine.let_devices(reinterpret_cast<void*>(address), found.also_by);  // NOLINT(performance-no-int-to-ptr)
    }
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return answer("cudaMemPoolGetAccess", [&](Machine& machine) {
    const MemoryPool& found = machine.pools().at(pool);
    require(location != nullptr && location->type == cudaMemLocationTypeDevice);
    require_device(location->id);
    const bool may = location->id == found.device || (found.also_by >> location->id & 1U) != 0;
    give(flags, may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone);
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return answer("cudaDeviceGetDefaultMemPool", [&](Machine& machine) {
    require_device(device);
    give(pool, handle_of(machine.pools().of_device(device)));
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return answer("cudaDeviceGetMemPool", [&](Machine& machine) {
    require_device(device);
    give(pool, handle_of(machine.pools().current(device)));
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return answer("cudaDeviceSetMemPool", [&](Machine& machine) {
    require_device(device);
    MemoryPool& found = machine.pools().at(pool);
    require(found.device == device);
    machine.pools().use(device, found);
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return answer("cudaMemGetDefaultMemPool", [&](Machine& machine) {
    require_place(location);
    require_pinned(type);
    give(pool, handle_of(machine.pools().of_device(location->id)));
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return answer("cudaMemGetMemPool", [&](Machine& machine) {
    require_place(location);
    require_pinned(type);
    give(pool, handle_of(machine.pools().current(location->id)));
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  return answer("cudaMemSetMemPool", [&](Machine& machine) {
    require_place(location);
    require_pinned(type);
    MemoryPool& found = machine.pools().at(pool);
    require(found.device == location->id);
    machine.pools().use(location->id, found);
  });
}

}  // extern "C"
