// Functions that the runtime no longer has: those that had another name before they were removed, and those that are
// not supported here.
#include "simulator/stand_in/older_runtimes/names.hpp"

extern "C" {

cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* configuration) { return cudaDeviceGetCacheConfig(configuration); }
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache configuration) { return cudaDeviceSetCacheConfig(configuration); }

cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, begin, end);
}

cudaError_t cudaChooseDevice_v2(int* device, const void* wanted) {
  return cudaChooseDevice(device, static_cast<const cudaDeviceProp*>(wanted));
}

// Callers know the parameters, which are not looked at.
#define CONVLADDER_REFUSED(name)                \
  int refused_##name() CONVLADDER_SYMBOL(name); \
  int refused_##name() { return convladder_stand_in_refuse(#name); }

CONVLADDER_REFUSED(cudaLaunchCooperativeKernelMultiDevice)
CONVLADDER_REFUSED(cudaMemcpy3DBatchAsync)
CONVLADDER_REFUSED(cudaMemcpyBatchAsync)
CONVLADDER_REFUSED(cudaSignalExternalSemaphoresAsync_v2)
CONVLADDER_REFUSED(cudaWaitExternalSemaphoresAsync_v2)

#if CONVLADDER_RUNTIME_VERSION < 12000
CONVLADDER_REFUSED(cudaBindSurfaceToArray)
CONVLADDER_REFUSED(cudaBindTexture)
CONVLADDER_REFUSED(cudaBindTexture2D)
CONVLADDER_REFUSED(cudaBindTextureToArray)
CONVLADDER_REFUSED(cudaBindTextureToMipmappedArray)
CONVLADDER_REFUSED(cudaGetSurfaceReference)
CONVLADDER_REFUSED(cudaGetTextureAlignmentOffset)
CONVLADDER_REFUSED(cudaGetTextureReference)
CONVLADDER_REFUSED(cudaProfilerInitialize)
CONVLADDER_REFUSED(cudaUnbindTexture)

void __cudaRegisterTexture() { static_cast<void>(convladder_stand_in_refuse("a texture reference")); }
void __cudaRegisterSurface() { static_cast<void>(convladder_stand_in_refuse("a surface reference")); }
#endif

}  // extern "C"
