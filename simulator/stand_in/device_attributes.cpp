#include "simulator/stand_in/device_attributes.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>

namespace convladder::stand_in {
namespace {

constexpr int kKilo = 1000;
constexpr int kConstantBytes = 65536;
constexpr int kVirtualMemoryManagement = 102;  // attributes that only the driver has a name for
constexpr int kFileDescriptorHandles = 103;

int major_of(const GpuFacts& gpu) { return std::stoi(gpu.compute_capability); }
int minor_of(const GpuFacts& gpu) {
  return std::stoi(gpu.compute_capability.substr(gpu.compute_capability.find('.') + 1));
}

}  // namespace

std::optional<int> device_attribute(const GpuFacts& gpu, int number) {
  const OccupancyLimits& limits = gpu.occupancy;
  constexpr int kTextureSize = 131072;
  constexpr int kTextureDepth = 16384;
  constexpr int kSurfaceSize = 32768;
  constexpr int kLayers = 2048;
  switch (number) {
    case cudaDevAttrMaxThreadsPerBlock:
      return limits.threads_per_block;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return INT_MAX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return std::min(limits.shared_per_block, 48 * 1024);
    case cudaDevAttrTotalConstantMemory:
      return kConstantBytes;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxPitch:
      return INT_MAX;
    case cudaDevAttrMaxRegistersPerBlock:
      return limits.registers_per_block;
    case cudaDevAttrClockRate:
      return static_cast<int>(gpu.clock_mhz.high * kKilo);
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment:
      return 512;
    case cudaDevAttrTexturePitchAlignment:
      return 32;
    case cudaDevAttrMultiProcessorCount:
      return gpu.multiprocessors;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrPciBusId:
    case cudaDevAttrEccEnabled:
      return 1;
    case cudaDevAttrComputeMode:
      return cudaComputeModeDefault;
    case cudaDevAttrMemoryClockRate:
      // Two transfers per clock on the memory bus.
      return static_cast<int>(gpu.dram_gb_per_s.high * 8 * kKilo * kKilo / 2 / 5120);
    case cudaDevAttrGlobalMemoryBusWidth:
      return 5120;
    case cudaDevAttrL2CacheSize:
      return static_cast<int>(gpu.l2_bytes);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return limits.warps_per_multiprocessor * 32;
    case cudaDevAttrAsyncEngineCount:
      return 2;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return limits.shared_per_multiprocessor;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return limits.registers_per_multiprocessor;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return limits.shared_per_block;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return limits.shared_reserved_per_block;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return limits.blocks_per_multiprocessor;
    case cudaDevAttrComputeCapabilityMajor:
      return major_of(gpu);
    case cudaDevAttrComputeCapabilityMinor:
      return minor_of(gpu);
    case kVirtualMemoryManagement:
    case kFileDescriptorHandles:
      return 1;
    case cudaDevAttrClusterLaunch:
      return major_of(gpu) >= 9 ? 1 : 0;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return 2;
    case cudaDevAttrMaxTexture1DWidth:
    case cudaDevAttrMaxTexture2DWidth:
      return kTextureSize;
    case cudaDevAttrMaxTexture2DHeight:
      return kTextureSize / 2;
    case cudaDevAttrMaxTexture1DLinearWidth:
      return 1 << 28;
    case cudaDevAttrMaxTexture2DLinearWidth:
    case cudaDevAttrMaxTexture2DLinearHeight:
      return kTextureSize - 1;
    case cudaDevAttrMaxTexture2DLinearPitch:
      return 2097120;
    case cudaDevAttrMaxTexture3DWidth:
    case cudaDevAttrMaxTexture3DHeight:
    case cudaDevAttrMaxTexture3DDepth:
      return kTextureDepth;
    case cudaDevAttrMaxTexture1DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredHeight:
    case cudaDevAttrMaxSurface1DWidth:
    case cudaDevAttrMaxSurface2DWidth:
    case cudaDevAttrMaxSurface1DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredWidth:
    case cudaDevAttrMaxSurface2DLayeredHeight:
    case cudaDevAttrMaxSurface2DHeight:
      return kSurfaceSize;
    case cudaDevAttrMaxSurface3DWidth:
    case cudaDevAttrMaxSurface3DHeight:
    case cudaDevAttrMaxSurface3DDepth:
      return kTextureDepth;
    case cudaDevAttrMaxTexture1DLayeredLayers:
    case cudaDevAttrMaxTexture2DLayeredLayers:
    case cudaDevAttrMaxSurface1DLayeredLayers:
    case cudaDevAttrMaxSurface2DLayeredLayers:
      return kLayers;
    default:
      // Features that it does not have: an integrated GPU, peers, NUMA nodes, memory pools, cube maps.
      return number > 0 && number < cudaDevAttrMax ? std::optional<int>(0) : std::nullopt;
  }
}

}  // namespace convladder::stand_in
