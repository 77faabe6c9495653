// Memory pools, the one device among several, attributes of streams, advice about memory. Says what is not as
// documented.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "expect.h"

namespace {

constexpr std::size_t kBytes = 4096;

__global__ void fill(int* values) { values[threadIdx.x] = 7; }

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = ~0ULL;
  EXPECT_OK(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

cudaMemPoolProps properties() {
  cudaMemPoolProps wanted = {};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  return wanted;
}

void pools() {
  int supported = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaMemPool_t of_device = nullptr, current = nullptr, own = nullptr;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&of_device, 0));
  EXPECT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(of_device != nullptr && of_device == current);
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&of_device, 1));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaDeviceGetMemPool(nullptr, 0));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemPoolDestroy(of_device));

  int reuse = 0;
  EXPECT_OK(cudaMemPoolGetAttribute(of_device, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT(reuse == 1);
  reuse = 0;
  EXPECT_OK(cudaMemPoolSetAttribute(of_device, cudaMemPoolReuseAllowOpportunistic, &reuse));
  reuse = 1;
  EXPECT_OK(cudaMemPoolGetAttribute(of_device, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT(reuse == 0);
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemPoolGetAttribute(of_device, static_cast<cudaMemPoolAttr>(0), &reuse));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemPoolGetAttribute(of_device, cudaMemPoolAttrUsedMemHigh, nullptr));

  cudaMemPoolProps wanted = properties();
  wanted.maxSize = 3 * kBytes;
  EXPECT_OK(cudaMemPoolCreate(&own, &wanted));
  EXPECT(own != of_device);
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT_STATUS(cudaErrorNotSupported, cudaMemPoolCreate(&current, &wanted));
  wanted = properties();
  wanted.location.id = 3;
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaMemPoolCreate(&current, &wanted));
  wanted = properties();
  wanted.allocType = cudaMemAllocationTypeInvalid;
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemPoolCreate(&current, &wanted));

  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  void *first = nullptr, *second = nullptr, *third = nullptr;
  EXPECT_OK(cudaMallocFromPoolAsync(&first, kBytes, own, stream));
  EXPECT_OK(cudaMallocFromPoolAsync(&second, 2 * kBytes, own, stream));
  EXPECT_STATUS(cudaErrorMemoryAllocation, cudaMallocFromPoolAsync(&third, 1, own, stream));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMallocFromPoolAsync(nullptr, 1, own, stream));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&third, 1, nullptr, stream));
  EXPECT(attribute(own, cudaMemPoolAttrUsedMemCurrent) == 3 * kBytes);
  EXPECT(attribute(of_device, cudaMemPoolAttrUsedMemCurrent) == 0);
  fill<<<1, 64, 0, stream>>>(static_cast<int*>(first));
  int seen = 0;
  EXPECT_OK(cudaMemcpyAsync(&seen, static_cast<int*>(first) + 63, sizeof seen, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(seen == 7);

  // What was used stays reserved up to the threshold.
  std::uint64_t threshold = kBytes;
  EXPECT_OK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_OK(cudaFreeAsync(second, stream));
  EXPECT(attribute(own, cudaMemPoolAttrUsedMemCurrent) == kBytes);
  EXPECT(attribute(own, cudaMemPoolAttrUsedMemHigh) == 3 * kBytes);
  EXPECT_OK(cudaFreeAsync(first, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(attribute(own, cudaMemPoolAttrUsedMemCurrent) == 0);
  EXPECT(attribute(own, cudaMemPoolAttrReservedMemCurrent) == kBytes);
  EXPECT_OK(cudaMemPoolTrimTo(own, 0));
  EXPECT(attribute(own, cudaMemPoolAttrReservedMemCurrent) == 0);
  std::uint64_t number = 1;
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemHigh, &number));
  number = 0;
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &number));
  EXPECT_OK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemHigh, &number));
  EXPECT(attribute(own, cudaMemPoolAttrUsedMemHigh) == 0);

  // The current pool is where cudaMallocAsync takes from.
  EXPECT_OK(cudaDeviceSetMemPool(0, own));
  EXPECT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == own);
  EXPECT_OK(cudaMallocAsync(&first, kBytes, stream));
  EXPECT(attribute(own, cudaMemPoolAttrUsedMemCurrent) == kBytes);
  EXPECT_OK(cudaMemPoolDestroy(own));  // it ends when its memory is freed
  EXPECT_OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == of_device);
  EXPECT_STATUS(cudaErrorInvalidValue, cudaDeviceSetMemPool(0, own));
  EXPECT_OK(cudaMemset(first, 0, kBytes));
  EXPECT_OK(cudaFree(first));

  cudaMemLocation place = {};
  place.type = cudaMemLocationTypeDevice;
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  EXPECT_OK(cudaMemPoolGetAccess(&flags, of_device, &place));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  cudaMemAccessDesc access = {place, cudaMemAccessFlagsProtReadWrite};
  EXPECT_OK(cudaMemPoolSetAccess(of_device, &access, 1));
  access.flags = cudaMemAccessFlagsProtNone;
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemPoolSetAccess(of_device, &access, 1));
  access.location.id = 1;
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaMemPoolSetAccess(of_device, &access, 1));
  EXPECT_OK(cudaStreamDestroy(stream));
}

void pools_of_the_driver() {
  CUmemoryPool pool = nullptr;
  cudaMemPool_t same = nullptr;
  EXPECT(cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&same, 0));
  EXPECT(pool == same);
  EXPECT(cuDeviceGetDefaultMemPool(&pool, 5) == CUDA_ERROR_INVALID_DEVICE);
  CUmemPoolProps wanted = {};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  EXPECT(cuMemPoolCreate(&pool, &wanted) == CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT(cuMemAllocFromPoolAsync(&address, kBytes, pool, nullptr) == CUDA_SUCCESS);
  cuuint64_t used = 0;
  EXPECT(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) == CUDA_SUCCESS && used == kBytes);
  EXPECT(cuMemAllocFromPoolAsync(nullptr, kBytes, pool, nullptr) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemFreeAsync(address, nullptr) == CUDA_SUCCESS);
  EXPECT(cuMemPoolDestroy(pool) == CUDA_SUCCESS);
  EXPECT(cuMemPoolDestroy(pool) == CUDA_ERROR_INVALID_VALUE);
}

void peers() {
  int value = -1;
  EXPECT_OK(cudaDeviceCanAccessPeer(&value, 0, 0));
  EXPECT(value == 0);
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
  EXPECT_STATUS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaDeviceDisablePeerAccess(1));
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaDeviceGetP2PAttribute(nullptr, cudaDevP2PAttrAccessSupported, 0, 1));
  int *from = nullptr, *to = nullptr;
  EXPECT_OK(cudaMalloc(&from, kBytes));
  EXPECT_OK(cudaMalloc(&to, kBytes));
  fill<<<1, 64>>>(from);
  EXPECT_OK(cudaMemcpyPeerAsync(to, 0, from, 0, 64 * sizeof(int), nullptr));
  int seen[64] = {};
  EXPECT_OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
  EXPECT(seen[63] == 7);
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(to, 1, from, 0, 4, nullptr));
  EXPECT_OK(cudaMemset(to, 0, kBytes));
  cudaMemcpy3DPeerParms box = {};
  box.srcPtr = make_cudaPitchedPtr(from, 64, 64, 4);
  box.dstPtr = make_cudaPitchedPtr(to, 64, 64, 4);
  box.extent = make_cudaExtent(32, 4, 1);
  EXPECT_OK(cudaMemcpy3DPeer(&box));
  EXPECT_OK(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDeviceToHost));
  EXPECT(seen[7] == 7 && seen[8] == 0 && seen[16] == 7 && seen[55] == 7 && seen[56] == 0);
  box.dstDevice = 2;
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaMemcpy3DPeer(&box));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy3DPeerAsync(nullptr, nullptr));
  EXPECT_OK(cudaFree(from));
  EXPECT_OK(cudaFree(to));
}

void stream_attributes() {
  cudaStream_t stream = nullptr, other = nullptr;
  EXPECT_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
  EXPECT_OK(cudaStreamCreate(&other));
  cudaStreamAttrValue value = {};
  EXPECT_OK(cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
  EXPECT(value.syncPolicy == cudaSyncPolicyAuto);
  value.syncPolicy = cudaSyncPolicyYield;
  EXPECT_OK(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
  EXPECT_OK(cudaStreamCopyAttributes(other, stream));
  value = {};
  EXPECT_OK(cudaStreamGetAttribute(other, cudaLaunchAttributeSynchronizationPolicy, &value));
  EXPECT(value.syncPolicy == cudaSyncPolicyYield);
  EXPECT_OK(cudaStreamGetAttribute(nullptr, cudaLaunchAttributeSynchronizationPolicy, &value));
  EXPECT(value.syncPolicy == cudaSyncPolicyAuto);
  EXPECT_OK(cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value));
  EXPECT(value.priority == -1);
  value.priority = -3;
  EXPECT_OK(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value));
  int priority = 0;
  EXPECT_OK(cudaStreamGetPriority(stream, &priority));
  EXPECT(priority == -3);
  value = {};
  value.accessPolicyWindow.hitRatio = 2;
  EXPECT_STATUS(cudaErrorInvalidValue, cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value));
  value.accessPolicyWindow.hitRatio = 0.5F;
  EXPECT_OK(cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value));
  value = {};
  EXPECT_OK(cudaStreamGetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value));
  EXPECT(value.accessPolicyWindow.hitRatio == 0.5F);
  EXPECT_STATUS(cudaErrorInvalidValue, cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value));
  EXPECT_STATUS(cudaErrorInvalidValue,
                cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, nullptr));
  EXPECT_OK(cudaCtxResetPersistingL2Cache());
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_STATUS(cudaErrorInvalidResourceHandle,
                cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
  EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaStreamCopyAttributes(other, stream));
  EXPECT_OK(cudaStreamDestroy(other));
}

__managed__ int managed[64];

void advice() {
  int* memory = nullptr;
  EXPECT_OK(cudaMallocManaged(&memory, kBytes));
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  const cudaMemLocation other = {cudaMemLocationTypeDevice, 1};
  int value = -7;
  EXPECT_OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributePreferredLocation, memory, kBytes));
  EXPECT(value == cudaInvalidDeviceId);
  EXPECT_OK(cudaMemAdvise(memory, kBytes, cudaMemAdviseSetReadMostly, device));
  EXPECT_OK(cudaMemAdvise(memory, kBytes, cudaMemAdviseSetPreferredLocation, host));
  EXPECT_OK(cudaMemAdvise(memory, kBytes, cudaMemAdviseSetAccessedBy, device));
  EXPECT_OK(cudaMemPrefetchAsync(memory, kBytes, device, 0, nullptr));
  EXPECT_OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, memory, kBytes));
  EXPECT(value == 1);
  int preferred = 0, prefetched = -7, accessing[3] = {};
  void* places[] = {&preferred, &prefetched, accessing};
  std::size_t sizes[] = {sizeof preferred, sizeof prefetched, sizeof accessing};
  cudaMemRangeAttribute which[] = {cudaMemRangeAttributePreferredLocation, cudaMemRangeAttributeLastPrefetchLocation,
                                   cudaMemRangeAttributeAccessedBy};
  EXPECT_OK(cudaMemRangeGetAttributes(places, sizes, which, 3, memory, kBytes));
  EXPECT(preferred == cudaCpuDeviceId && prefetched == 0);
  EXPECT(accessing[0] == 0 && accessing[1] == cudaInvalidDeviceId && accessing[2] == cudaInvalidDeviceId);
  EXPECT_OK(cudaMemAdvise(memory, kBytes, cudaMemAdviseUnsetReadMostly, device));
  EXPECT_OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, memory, kBytes));
  EXPECT(value == 0);
  EXPECT_OK(cudaMemPrefetchAsync(managed, sizeof managed, device, 0, nullptr));

  EXPECT_STATUS(cudaErrorInvalidDevice, cudaMemAdvise(memory, kBytes, cudaMemAdviseSetPreferredLocation, other));
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaMemPrefetchAsync(memory, kBytes, other, 0, nullptr));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemAdvise(memory, 2 * kBytes, cudaMemAdviseSetReadMostly, device));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemAdvise(memory + 1, kBytes, cudaMemAdviseSetReadMostly, device));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemAdvise(memory, kBytes, static_cast<cudaMemoryAdvise>(0), device));
  EXPECT_STATUS(cudaErrorInvalidValue,
                cudaMemRangeGetAttribute(&value, 2, cudaMemRangeAttributeReadMostly, memory, kBytes));
  int* plain = nullptr;
  EXPECT_OK(cudaMalloc(&plain, kBytes));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemAdvise(plain, kBytes, cudaMemAdviseSetReadMostly, device));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemAdvise(&value, sizeof value, cudaMemAdviseSetReadMostly, device));
  EXPECT_OK(cudaFree(plain));
  EXPECT_OK(cudaFree(memory));
}

}  // namespace

int main() {
  pools();
  pools_of_the_driver();
  peers();
  stream_attributes();
  advice();
  return outcome();
}
