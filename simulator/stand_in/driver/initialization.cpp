// cuInit, versions, and the devices.
#include <algorithm>
#include <cstring>

#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

namespace {

/// The device's properties for the driver's functions.
cudaDeviceProp properties(CUdevice device) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) throw Failure(kInvalidDevice);
  return properties;
}

template <typename Work>
CUresult of_device(const char* name, CUdevice device, const Work& work) {
  return answer_driver(name, Needs::initialization, [&](Machine& machine) {
    require_device(device);
    work(machine);
  });
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  return answer_driver("cuInit", Needs::nothing, [&](Machine& machine) {
    require(flags == 0);
    require(machine.device_count() > 0, kNoDevice);
    machine.contexts.is_initialized = true;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return answer_driver("cuDriverGetVersion", Needs::nothing, [&](Machine&) { give(version, kCudaVersion); });
}

CUresult cuDeviceGetCount(int* count) {
  return answer_driver("cuDeviceGetCount", Needs::initialization,
                       [&](Machine& machine) { give(count, machine.device_count()); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return of_device("cuDeviceGet", ordinal, [&](Machine&) { give(device, ordinal); });
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return of_device("cuDeviceGetName", device, [&](Machine&) {
    require(name != nullptr && bytes > 0);
    const cudaDeviceProp known = properties(device);
    const std::size_t length = std::min(std::strlen(known.name), static_cast<std::size_t>(bytes) - 1);
    std::memcpy(name, known.name, length);
    name[length] = '\0';
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return of_device("cuDeviceGetUuid", device, [&](Machine&) { give(uuid, CUuuid(properties(device).uuid)); });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceGetLuid(char* /*luid*/, unsigned* /*mask*/, CUdevice device) {
  // As on every system except Windows.
  return of_device("cuDeviceGetLuid", device, [](Machine&) { throw Failure(kNotSupported); });
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return of_device("cuDeviceTotalMem", device,
                   [&](Machine& machine) { give(bytes, static_cast<std::size_t>(machine.capacity())); });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return of_device("cuDeviceGetAttribute", device, [&](Machine& machine) {
    int known = 0;
    static_cast<void>(machine);
    require(cudaDeviceGetAttribute(&known, static_cast<cudaDeviceAttr>(attribute), device) == cudaSuccess);
    give(value, known);
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return of_device("cuDeviceComputeCapability", device, [&](Machine& machine) {
    give(major, machine.architecture() / 10);
    give(minor, machine.architecture() % 10);
  });
}

CUresult cuDeviceGetProperties(CUdevprop* wanted, CUdevice device) {
  return of_device("cuDeviceGetProperties", device, [&](Machine& machine) {
    const cudaDeviceProp known = properties(device);
    const auto of = [&](int number) { return device_attribute(machine.gpu(), number).value_or(0); };
    CUdevprop made = {};
    made.maxThreadsPerBlock = known.maxThreadsPerBlock;
    std::copy_n(known.maxThreadsDim, 3, made.maxThreadsDim);
    std::copy_n(known.maxGridSize, 3, made.maxGridSize);
    made.sharedMemPerBlock = static_cast<int>(known.sharedMemPerBlock);
    made.totalConstantMemory = static_cast<int>(known.totalConstMem);
    made.SIMDWidth = known.warpSize;
    made.memPitch = static_cast<int>(known.memPitch);
    made.regsPerBlock = known.regsPerBlock;
    made.clockRate = of(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    made.textureAlign = static_cast<int>(known.textureAlignment);
    give(wanted, made);
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int bytes, CUdevice device) {
  return of_device("cuDeviceGetPCIBusId", device,
                   [&](Machine&) { require(cudaDeviceGetPCIBusId(text, bytes, device) == cudaSuccess); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return answer_driver("cuDeviceGetByPCIBusId", Needs::initialization, [&](Machine&) {
    const cudaError_t status = cudaDeviceGetByPCIBusId(device, text);
    succeed(status);
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return of_device("cuDeviceCanAccessPeer", device, [&](Machine&) {
    require_device(peer);
    give(can, peer == device ? 0 : 1);
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice other) {
  return answer_driver("cuDeviceGetP2PAttribute", Needs::initialization, [&](Machine&) {
    const cudaError_t status =
        cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), device, other);
    succeed(status);
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* is_supported, CUexecAffinityType type, CUdevice device) {
  return of_device("cuDeviceGetExecAffinitySupport", device, [&](Machine&) {
    require(type == CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    give(is_supported, 0);
  });
}

CUresult cuProfilerStart() {
  return answer_driver("cuProfilerStart", Needs::context, [](Machine&) {});
}

CUresult cuProfilerStop() {
  return answer_driver("cuProfilerStop", Needs::context, [](Machine&) {});
}

}  // extern "C"
