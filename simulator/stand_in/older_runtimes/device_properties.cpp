// cudaGetDeviceProperties for programs of CUDA 11 and 12, in which the structure had other members in other places.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "simulator/stand_in/older_runtimes/names.hpp"

namespace {

/// cudaDeviceProp of CUDA 12, whose beginning is that of CUDA 11.
struct DeviceProperties12 {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;  // from here on only in CUDA 12
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
};
constexpr std::size_t kBytes11 = offsetof(DeviceProperties12, hostRegisterSupported);
static_assert(sizeof(DeviceProperties12) == 1032 && kBytes11 == 728);

int attribute(cudaDeviceAttr number, int device) {
  int value = 0;
  static_cast<void>(cudaDeviceGetAttribute(&value, number, device));
  return value;
}

template <std::size_t kCount>
void copy(int (&to)[kCount], const int (&from)[kCount]) {
  std::copy_n(from, kCount, to);
}

DeviceProperties12 as_of_12(const cudaDeviceProp& now, int device) {
  DeviceProperties12 p = {};
  std::memcpy(p.name, now.name, sizeof p.name);
  p.uuid = now.uuid;
  std::memcpy(p.luid, now.luid, sizeof p.luid);
  p.luidDeviceNodeMask = now.luidDeviceNodeMask;
  p.totalGlobalMem = now.totalGlobalMem;
  p.sharedMemPerBlock = now.sharedMemPerBlock;
  p.regsPerBlock = now.regsPerBlock;
  p.warpSize = now.warpSize;
  p.memPitch = now.memPitch;
  p.maxThreadsPerBlock = now.maxThreadsPerBlock;
  copy(p.maxThreadsDim, now.maxThreadsDim);
  copy(p.maxGridSize, now.maxGridSize);
  p.clockRate = attribute(cudaDevAttrClockRate, device);
  p.totalConstMem = now.totalConstMem;
  p.major = now.major;
  p.minor = now.minor;
  p.textureAlignment = now.textureAlignment;
  p.texturePitchAlignment = now.texturePitchAlignment;
  p.deviceOverlap = attribute(cudaDevAttrGpuOverlap, device);
  p.multiProcessorCount = now.multiProcessorCount;
  p.kernelExecTimeoutEnabled = attribute(cudaDevAttrKernelExecTimeout, device);
  p.integrated = now.integrated;
  p.canMapHostMemory = now.canMapHostMemory;
  p.computeMode = attribute(cudaDevAttrComputeMode, device);
  p.maxTexture1D = now.maxTexture1D;
  p.maxTexture1DMipmap = now.maxTexture1DMipmap;
  p.maxTexture1DLinear = attribute(cudaDevAttrMaxTexture1DLinearWidth, device);
  copy(p.maxTexture2D, now.maxTexture2D);
  copy(p.maxTexture2DMipmap, now.maxTexture2DMipmap);
  copy(p.maxTexture2DLinear, now.maxTexture2DLinear);
  copy(p.maxTexture2DGather, now.maxTexture2DGather);
  copy(p.maxTexture3D, now.maxTexture3D);
  copy(p.maxTexture3DAlt, now.maxTexture3DAlt);
  p.maxTextureCubemap = now.maxTextureCubemap;
  copy(p.maxTexture1DLayered, now.maxTexture1DLayered);
  copy(p.maxTexture2DLayered, now.maxTexture2DLayered);
  copy(p.maxTextureCubemapLayered, now.maxTextureCubemapLayered);
  p.maxSurface1D = now.maxSurface1D;
  copy(p.maxSurface2D, now.maxSurface2D);
  copy(p.maxSurface3D, now.maxSurface3D);
  copy(p.maxSurface1DLayered, now.maxSurface1DLayered);
  copy(p.maxSurface2DLayered, now.maxSurface2DLayered);
  p.maxSurfaceCubemap = now.maxSurfaceCubemap;
  copy(p.maxSurfaceCubemapLayered, now.maxSurfaceCubemapLayered);
  p.surfaceAlignment = now.surfaceAlignment;
  p.concurrentKernels = now.concurrentKernels;
  p.ECCEnabled = now.ECCEnabled;
  p.pciBusID = now.pciBusID;
  p.pciDeviceID = now.pciDeviceID;
  p.pciDomainID = now.pciDomainID;
  p.tccDriver = now.tccDriver;
  p.asyncEngineCount = now.asyncEngineCount;
  p.unifiedAddressing = now.unifiedAddressing;
  p.memoryClockRate = attribute(cudaDevAttrMemoryClockRate, device);
  p.memoryBusWidth = now.memoryBusWidth;
  p.l2CacheSize = now.l2CacheSize;
  p.persistingL2CacheMaxSize = now.persistingL2CacheMaxSize;
  p.maxThreadsPerMultiProcessor = now.maxThreadsPerMultiProcessor;
  p.streamPrioritiesSupported = now.streamPrioritiesSupported;
  p.globalL1CacheSupported = now.globalL1CacheSupported;
  p.localL1CacheSupported = now.localL1CacheSupported;
  p.sharedMemPerMultiprocessor = now.sharedMemPerMultiprocessor;
  p.regsPerMultiprocessor = now.regsPerMultiprocessor;
  p.managedMemory = now.managedMemory;
  p.isMultiGpuBoard = now.isMultiGpuBoard;
  p.multiGpuBoardGroupID = now.multiGpuBoardGroupID;
  p.hostNativeAtomicSupported = now.hostNativeAtomicSupported;
  p.singleToDoublePrecisionPerfRatio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  p.pageableMemoryAccess = now.pageableMemoryAccess;
  p.concurrentManagedAccess = now.concurrentManagedAccess;
  p.computePreemptionSupported = now.computePreemptionSupported;
  p.canUseHostPointerForRegisteredMem = now.canUseHostPointerForRegisteredMem;
  p.cooperativeLaunch = now.cooperativeLaunch;
  p.sharedMemPerBlockOptin = now.sharedMemPerBlockOptin;
  p.pageableMemoryAccessUsesHostPageTables = now.pageableMemoryAccessUsesHostPageTables;
  p.directManagedMemAccessFromHost = now.directManagedMemAccessFromHost;
  p.maxBlocksPerMultiProcessor = now.maxBlocksPerMultiProcessor;
  p.accessPolicyMaxWindowSize = now.accessPolicyMaxWindowSize;
  p.reservedSharedMemPerBlock = now.reservedSharedMemPerBlock;
  p.hostRegisterSupported = now.hostRegisterSupported;
  p.sparseCudaArraySupported = now.sparseCudaArraySupported;
  p.hostRegisterReadOnlySupported = now.hostRegisterReadOnlySupported;
  p.timelineSemaphoreInteropSupported = now.timelineSemaphoreInteropSupported;
  p.memoryPoolsSupported = now.memoryPoolsSupported;
  p.gpuDirectRDMASupported = now.gpuDirectRDMASupported;
  p.gpuDirectRDMAFlushWritesOptions = now.gpuDirectRDMAFlushWritesOptions;
  p.gpuDirectRDMAWritesOrdering = now.gpuDirectRDMAWritesOrdering;
  p.memoryPoolSupportedHandleTypes = now.memoryPoolSupportedHandleTypes;
  p.deferredMappingCudaArraySupported = now.deferredMappingCudaArraySupported;
  p.ipcEventSupported = now.ipcEventSupported;
  p.clusterLaunch = now.clusterLaunch;
  p.unifiedFunctionPointers = now.unifiedFunctionPointers;
  return p;
}

}  // namespace

CONVLADDER_TODAY(cudaGetDeviceProperties);

namespace {

/// Gives the first `bytes` of the properties.
cudaError_t give_properties(void* wanted, std::size_t bytes, int device) {
  cudaDeviceProp now = {};
  const cudaError_t status = today_cudaGetDeviceProperties(wanted == nullptr ? nullptr : &now, device);
  if (status != cudaSuccess) return status;
  const DeviceProperties12 then = as_of_12(now, device);
  std::memcpy(wanted, &then, bytes);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t properties_11(void* wanted, int device) CONVLADDER_SYMBOL(cudaGetDeviceProperties);
cudaError_t properties_11(void* wanted, int device) { return give_properties(wanted, kBytes11, device); }

cudaError_t properties_12(void* wanted, int device) CONVLADDER_SYMBOL(cudaGetDeviceProperties_v2);
cudaError_t properties_12(void* wanted, int device) {
  return give_properties(wanted, sizeof(DeviceProperties12), device);
}

}  // extern "C"
