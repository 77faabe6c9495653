// Memory: on the device, managed, pinned.
#include "simulator/stand_in/graph.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

constexpr std::size_t kPitchAlignment = 512;

std::size_t pitch_of(std::size_t width) { return (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment; }

/// A product of sizes; one that is too large for any memory does not become a small number by overflow.
std::size_t product(std::size_t a, std::size_t b) {
  if (b != 0 && a > SIZE_MAX / b) throw Failure(kOutOfMemory);
  return a * b;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return answer("cudaMalloc", [&](Machine& machine) {
    require(address != nullptr);
    if (!machine.memory_of_graphs.is_capturing()) machine.graphs().do_unsafe();
    *address = bytes == 0 ? nullptr : machine.allocate(MemoryKind::device, bytes, 0, called("cudaMalloc"));
    machine.memory_of_graphs.allocated(*address);
  });
}

cudaError_t cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width, std::size_t height) {
  return answer("cudaMallocPitch", [&](Machine& machine) {
    require(address != nullptr && pitch != nullptr);
    machine.graphs().do_unsafe();
    *pitch = pitch_of(width);
    const std::size_t bytes = product(*pitch, height);
    *address = bytes == 0 ? nullptr : machine.allocate(MemoryKind::device, bytes, 0, called("cudaMallocPitch"));
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return answer("cudaMalloc3D", [&](Machine& machine) {
    require(pitched != nullptr);
    machine.graphs().do_unsafe();
    pitched->pitch = pitch_of(extent.width);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    const std::size_t bytes = product(product(pitched->pitch, extent.height), extent.depth);
    pitched->ptr = bytes == 0 ? nullptr : machine.allocate(MemoryKind::device, bytes, 0, called("cudaMalloc3D"));
  });
}

cudaError_t cudaMallocManaged(void** address, std::size_t bytes, unsigned flags) {
  return answer("cudaMallocManaged", [&](Machine& machine) {
    require(address != nullptr && bytes > 0 && (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost));
    machine.graphs().do_unsafe();
    *address = machine.allocate(MemoryKind::managed, bytes, flags, called("cudaMallocManaged"));
  });
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return answer("cudaHostAlloc", [&](Machine& machine) {
    require(address != nullptr && flags < 16);
    machine.graphs().do_unsafe();
    *address = bytes == 0 ? nullptr : machine.allocate(MemoryKind::pinned, bytes, flags, called("cudaHostAlloc"));
  });
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return answer("cudaMallocHost", [&](Machine& machine) {
    require(address != nullptr);
    machine.graphs().do_unsafe();
    *address = bytes == 0 ? nullptr : machine.allocate(MemoryKind::pinned, bytes, 0, called("cudaMallocHost"));
  });
}

cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return answer("cudaHostRegister", [&](Machine& machine) {
    machine.graphs().do_unsafe();
    machine.register_host(address, bytes, flags);
  });
}

cudaError_t cudaHostUnregister(void* address) {
  return answer("cudaHostUnregister", [&](Machine& machine) {
    machine.graphs().do_unsafe();
    const Memory* const memory = machine.memory_at(address);
    if (memory == nullptr || memory->kind != MemoryKind::registered) throw Failure(kNotRegistered);
    machine.free(address, true, called("cudaHostUnregister"));
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return answer("cudaHostGetDevicePointer", [&](Machine& machine) {
    require(device != nullptr && flags == 0);
    const Memory* const memory = machine.memory_at(host);
    require(memory != nullptr && memory->kind != MemoryKind::device);
    *device = host;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return answer("cudaHostGetFlags", [&](Machine& machine) {
    const Memory* const memory = machine.memory_at(host);
    require(memory != nullptr && memory->kind == MemoryKind::pinned);
    give(flags, memory->flags);
  });
}

cudaError_t cudaFree(void* address) {
  return answer("cudaFree", [&](Machine& machine) {
    if (address == nullptr || machine.memory_of_graphs.puts_off(address)) return;
    if (!machine.memory_of_graphs.is_capturing()) machine.graphs().do_unsafe();
    machine.free(address, false, called("cudaFree"));
  });
}

cudaError_t cudaFreeHost(void* address) {
  return answer("cudaFreeHost", [&](Machine& machine) {
    if (address != nullptr) machine.graphs().do_unsafe();
    machine.free(address, true, called("cudaFreeHost"));
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return answer("cudaMemGetInfo", [&](Machine& machine) {
    give(free, static_cast<std::size_t>(machine.told_free_bytes()));
    give(total, static_cast<std::size_t>(machine.capacity()));
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return answer("cudaPointerGetAttributes", [&](Machine& machine) {
    require(attributes != nullptr);
    *attributes = {};
    attributes->device = -2;  // belongs to no device
    attributes->type = cudaMemoryTypeUnregistered;
    auto* const as_given = const_cast<void*>(address);
    const Memory* const memory = machine.memory_at(address);
    if (memory == nullptr) {
      attributes->hostPointer = as_given;
      return;
    }
    attributes->device = memory->context == nullptr ? 0 : memory->context->device;
    attributes->devicePointer = as_given;
    if (memory->kind != MemoryKind::device) attributes->hostPointer = as_given;
    attributes->type = memory->kind == MemoryKind::device    ? cudaMemoryTypeDevice
                       : memory->kind == MemoryKind::managed ? cudaMemoryTypeManaged
                                                             : cudaMemoryTypeHost;
  });
}

}  // extern "C"
