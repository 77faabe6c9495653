// Devices: as many as the settings say, each the GPU of the settings.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simulator/stand_in/device_attributes.hpp"
#include "simulator/stand_in/gpu_state.hpp"
#include "simulator/stand_in/runtime/answer.hpp"
#include "simulator/stand_in/visible_device.hpp"

using namespace convladder::stand_in;

namespace {

/// The number of its bus: that of the machine's GPU that the program's device is.
int bus(const Machine& machine, int device) { return bus_of(machine.gpu_of(device)); }

std::string bus_id(const Machine& machine, int device) { return bus_text(machine.gpu_of(device)); }

std::optional<int> known_attribute(const Machine& machine, int number, int device) {
  if (number == cudaDevAttrPciBusId) return bus(machine, device);
  if (number == cudaDevAttrComputeMode && machine.settings.exclusive) return cudaComputeModeExclusiveProcess;
  return device_attribute(machine.gpu(), number);
}

cudaDeviceProp properties(const Machine& machine, int device) {
  const auto of = [&](cudaDeviceAttr number) { return known_attribute(machine, number, device).value_or(0); };
  cudaDeviceProp p = {};
  const std::string name = fmt::format("{} (simulated)", machine.gpu().title);
  std::memcpy(p.name, name.c_str(), std::min(name.size(), sizeof p.name - 1));
  std::memcpy(p.uuid.bytes, device_uuid(machine.gpu_of(device)).data(), sizeof p.uuid.bytes);
  p.totalGlobalMem = machine.capacity();
  p.sharedMemPerBlock = static_cast<std::size_t>(of(cudaDevAttrMaxSharedMemoryPerBlock));
  p.regsPerBlock = of(cudaDevAttrMaxRegistersPerBlock);
  p.warpSize = of(cudaDevAttrWarpSize);
  p.memPitch = static_cast<std::size_t>(of(cudaDevAttrMaxPitch));
  p.maxThreadsPerBlock = of(cudaDevAttrMaxThreadsPerBlock);
  p.maxThreadsDim[0] = of(cudaDevAttrMaxBlockDimX);
  p.maxThreadsDim[1] = of(cudaDevAttrMaxBlockDimY);
  p.maxThreadsDim[2] = of(cudaDevAttrMaxBlockDimZ);
  p.maxGridSize[0] = of(cudaDevAttrMaxGridDimX);
  p.maxGridSize[1] = of(cudaDevAttrMaxGridDimY);
  p.maxGridSize[2] = of(cudaDevAttrMaxGridDimZ);
  p.totalConstMem = static_cast<std::size_t>(of(cudaDevAttrTotalConstantMemory));
  p.major = of(cudaDevAttrComputeCapabilityMajor);
  p.minor = of(cudaDevAttrComputeCapabilityMinor);
  p.textureAlignment = static_cast<std::size_t>(of(cudaDevAttrTextureAlignment));
  p.texturePitchAlignment = static_cast<std::size_t>(of(cudaDevAttrTexturePitchAlignment));
  p.surfaceAlignment = static_cast<std::size_t>(of(cudaDevAttrSurfaceAlignment));
  p.multiProcessorCount = of(cudaDevAttrMultiProcessorCount);
  p.canMapHostMemory = of(cudaDevAttrCanMapHostMemory);
  p.maxTexture1D = of(cudaDevAttrMaxTexture1DWidth);
  p.maxTexture2D[0] = of(cudaDevAttrMaxTexture2DWidth);
  p.maxTexture2D[1] = of(cudaDevAttrMaxTexture2DHeight);
  p.maxTexture2DLinear[0] = of(cudaDevAttrMaxTexture2DLinearWidth);
  p.maxTexture2DLinear[1] = of(cudaDevAttrMaxTexture2DLinearHeight);
  p.maxTexture2DLinear[2] = of(cudaDevAttrMaxTexture2DLinearPitch);
  p.maxTexture3D[0] = of(cudaDevAttrMaxTexture3DWidth);
  p.maxTexture3D[1] = of(cudaDevAttrMaxTexture3DHeight);
  p.maxTexture3D[2] = of(cudaDevAttrMaxTexture3DDepth);
  p.concurrentKernels = of(cudaDevAttrConcurrentKernels);
  p.ECCEnabled = of(cudaDevAttrEccEnabled);
  p.pciBusID = of(cudaDevAttrPciBusId);
  p.asyncEngineCount = of(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = of(cudaDevAttrUnifiedAddressing);
  p.memoryBusWidth = of(cudaDevAttrGlobalMemoryBusWidth);
  p.l2CacheSize = of(cudaDevAttrL2CacheSize);
  p.maxThreadsPerMultiProcessor = of(cudaDevAttrMaxThreadsPerMultiProcessor);
  p.streamPrioritiesSupported = of(cudaDevAttrStreamPrioritiesSupported);
  p.globalL1CacheSupported = of(cudaDevAttrGlobalL1CacheSupported);
  p.localL1CacheSupported = of(cudaDevAttrLocalL1CacheSupported);
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(of(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  p.regsPerMultiprocessor = of(cudaDevAttrMaxRegistersPerMultiprocessor);
  p.managedMemory = of(cudaDevAttrManagedMemory);
  p.concurrentManagedAccess = of(cudaDevAttrConcurrentManagedAccess);
  p.computePreemptionSupported = of(cudaDevAttrComputePreemptionSupported);
  p.canUseHostPointerForRegisteredMem = of(cudaDevAttrCanUseHostPointerForRegisteredMem);
  p.cooperativeLaunch = of(cudaDevAttrCooperativeLaunch);
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(of(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  p.maxBlocksPerMultiProcessor = of(cudaDevAttrMaxBlocksPerMultiprocessor);
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(of(cudaDevAttrReservedSharedMemoryPerBlock));
  p.hostRegisterSupported = of(cudaDevAttrHostRegisterSupported);
  p.clusterLaunch = of(cudaDevAttrClusterLaunch);
  p.memoryPoolsSupported = of(cudaDevAttrMemoryPoolsSupported);
  return p;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return answer(
      "cudaGetDeviceCount",
      [&](Machine& machine) {
        require(machine.driver_version() >= kCudaVersion, kInsufficientDriver);
        give(count, machine.device_count());
        require(machine.device_count() > 0, kNoDevice);
      },
      Context::not_used);
}

cudaError_t cudaGetDevice(int* device) {
  return answer(
      "cudaGetDevice", [&](Machine&) { give(device, Contexts::current_device()); }, Context::not_used);
}

cudaError_t cudaSetDevice(int device) {
  return answer(
      "cudaSetDevice",
      [&](Machine& machine) {
        require(machine.device_count() > 0, kNoDevice);
        require_device(device);
        machine.contexts.choose(device);
      },
      Context::not_used);
}

cudaError_t cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  return answer("cudaInitDevice", [&](Machine&) { require_device(device); });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return answer(
      "cudaSetValidDevices",
      [&](Machine&) {
        require(devices != nullptr && count >= 0);
        for (int i = 0; i < count; ++i) require_device(devices[i]);
      },
      Context::not_used);
}

cudaError_t cudaSetDeviceFlags(unsigned /*flags*/) {
  return answer(
      "cudaSetDeviceFlags", [](Machine&) {}, Context::not_used);
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return answer(
      "cudaGetDeviceFlags", [&](Machine&) { give(flags, 0U); }, Context::not_used);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* /*wanted*/) {
  return answer(
      "cudaChooseDevice", [&](Machine&) { give(device, 0); }, Context::not_used);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* wanted, int device) {
  return answer(
      "cudaGetDeviceProperties",
      [&](Machine& machine) {
        require_device(device);
        give(wanted, properties(machine, device));
      },
      Context::not_used);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr number, int device) {
  return answer(
      "cudaDeviceGetAttribute",
      [&](Machine& machine) {
        require_device(device);
        const std::optional<int> known = known_attribute(machine, number, device);
        require(known.has_value());
        give(value, *known);
      },
      Context::not_used);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return answer(
      "cudaDeviceGetPCIBusId",
      [&](Machine& machine) {
        require_device(device);
        const std::string id = bus_id(machine, device);
        require(text != nullptr && bytes > static_cast<int>(id.size()));
        std::memcpy(text, id.c_str(), id.size() + 1);
      },
      Context::not_used);
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return answer(
      "cudaDeviceGetByPCIBusId",
      [&](Machine& machine) {
        require(text != nullptr);
        int found = 0;
        while (found < machine.device_count() && bus_id(machine, found) != text) ++found;
        require(found < machine.device_count(), kInvalidDevice);
        give(device, found);
      },
      Context::not_used);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return answer(
      "cudaDeviceGetStreamPriorityRange",
      [&](Machine&) {
        if (least != nullptr) *least = 0;
        if (greatest != nullptr) *greatest = -5;
      },
      Context::not_used);
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* configuration) {
  return answer("cudaDeviceGetCacheConfig", [&](Machine&) { give(configuration, cudaFuncCachePreferNone); });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache /*configuration*/) {
  return answer("cudaDeviceSetCacheConfig", [](Machine&) {});
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* configuration) {
  return answer("cudaDeviceGetSharedMemConfig", [&](Machine&) { give(configuration, cudaSharedMemBankSizeFourByte); });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig /*configuration*/) {
  return answer("cudaDeviceSetSharedMemConfig", [](Machine&) {});
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return answer("cudaDeviceGetLimit", [&](Machine& machine) {
    require(limit >= 0 && limit <= cudaLimitPersistingL2CacheSize);
    give(value, machine.limits[static_cast<std::size_t>(limit)]);
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return answer("cudaDeviceSetLimit", [&](Machine& machine) {
    require(limit >= 0 && limit <= cudaLimitPersistingL2CacheSize);
    machine.limits[static_cast<std::size_t>(limit)] = value;
  });
}

cudaError_t cudaDeviceReset() {
  return answer(
      "cudaDeviceReset", [](Machine& machine) { machine.reset(machine.contexts.primary(Contexts::current_device())); },
      Context::not_used);
}

cudaError_t cudaDriverGetVersion(int* version) {
  return answer(
      "cudaDriverGetVersion", [&](Machine& machine) { give(version, machine.driver_version()); }, Context::not_used);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return answer(
      "cudaRuntimeGetVersion", [&](Machine&) { give(version, kCudaVersion); }, Context::not_used);
}

/// For callers that have to know whose runtime this is.
int convladder_stand_in_version() { return 1; }

/// Whether measured times are predictions: with the real clock they are measured, as on a GPU.
int convladder_stand_in_is_virtual() { return Machine::get().timeline.is_real() ? 0 : 1; }

/// See gpu_state.hpp.
int convladder_stand_in_gpu_state(GpuState* state) {
  Machine& machine = Machine::get();
  const std::scoped_lock lock(machine.mutex);
  if (machine.gpu_clock() == nullptr) return 0;
  *state = machine.gpu_clock()->state(real_now());
  return 1;
}

int convladder_stand_in_nvml_lacks(const char* function) {
  const auto& clock = Machine::get().settings.real_clock;
  return clock && std::ranges::find(clock->nvml_missing, function) != clock->nvml_missing.end() ? 1 : 0;
}

cudaError_t cudaProfilerStart() {
  return answer("cudaProfilerStart", [](Machine&) {});
}

cudaError_t cudaProfilerStop() {
  return answer("cudaProfilerStop", [](Machine&) {});
}

}  // extern "C"
