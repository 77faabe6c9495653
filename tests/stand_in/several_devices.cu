// Several devices: each with its own memory, variables, streams and contexts; peers and copies between them. Says what
// is not as documented. Run with three devices.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>
#include <thread>

#include "expect.h"

namespace {

constexpr int kCount = 64;

__device__ int own = 5;
__managed__ int of_all = 1;

__global__ void write(int* values, int factor) { values[threadIdx.x] = factor * static_cast<int>(threadIdx.x) + own; }
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }
__global__ void set_own(int value) { own = value, of_all += value; }

void devices() {
  int count = 0;
  int device = -1;
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(count == 3);
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT(device == 0);
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaSetDevice(3));
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaSetDevice(-1));
  cudaDeviceProp first = {}, last = {};
  EXPECT_OK(cudaGetDeviceProperties(&first, 0));
  EXPECT_OK(cudaGetDeviceProperties(&last, 2));
  EXPECT(std::memcmp(&first.uuid, &last.uuid, sizeof first.uuid) != 0);
  EXPECT(first.pciBusID != last.pciBusID && std::strcmp(first.name, last.name) == 0);
  char bus[32];
  EXPECT_OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 2));
  EXPECT_OK(cudaDeviceGetByPCIBusId(&device, bus));
  EXPECT(device == 2);
  EXPECT_OK(cudaSetDevice(2));
  std::thread other([] {  // each thread begins on the first device
    int of_thread = -1;
    EXPECT_OK(cudaGetDevice(&of_thread));
    EXPECT(of_thread == 0);
  });
  other.join();
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT(device == 2);
  CUdevice of_context = -1;
  EXPECT_OK(cudaFree(nullptr));
  EXPECT_OK(cuCtxGetDevice(&of_context));
  EXPECT(of_context == 2);
  EXPECT_OK(cudaSetDevice(0));
}

void variables() {
  int host = 0;
  for (int device = 0; device < 3; ++device) {
    EXPECT_OK(cudaSetDevice(device));
    set_own<<<1, 1>>>(10 * (device + 1));
    EXPECT_OK(cudaDeviceSynchronize());
  }
  for (int device = 0; device < 3; ++device) {
    EXPECT_OK(cudaSetDevice(device));
    EXPECT_OK(cudaMemcpyFromSymbol(&host, own, sizeof host));
    EXPECT(host == 10 * (device + 1));
  }
  EXPECT(of_all == 61);
  EXPECT_OK(cudaSetDevice(0));
}

void peers() {
  int* memory[2] = {};
  int host[kCount];
  for (int device = 0; device < 2; ++device) {
    EXPECT_OK(cudaSetDevice(device));
    EXPECT_OK(cudaMalloc(&memory[device], sizeof host));
    write<<<1, kCount>>>(memory[device], device + 1);
    cudaPointerAttributes attributes = {};
    EXPECT_OK(cudaPointerGetAttributes(&attributes, memory[device]));
    EXPECT(attributes.device == device && attributes.type == cudaMemoryTypeDevice);
  }
  int can = -1;
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(can == 1);
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 1, 1));
  EXPECT(can == 0);
  EXPECT_OK(cudaSetDevice(0));
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_STATUS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
  EXPECT_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_STATUS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  EXPECT(cudaGetLastError() == cudaErrorPeerAccessAlreadyEnabled);
  int value = -1;
  EXPECT_OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT(value == 1);
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  add<<<1, kCount>>>(memory[0], memory[1]);
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaMemcpy(host, memory[0], sizeof host, cudaMemcpyDefault));
  EXPECT(host[7] == 7 + 10 + 14 + 20);
  EXPECT_OK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, sizeof host));
  EXPECT_STATUS(cudaErrorInvalidDevice, cudaMemcpyPeer(memory[1], 3, memory[0], 0, sizeof host));
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT_OK(cudaMemcpy(host, memory[1], sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[7] == 51);
  EXPECT_OK(cudaDeviceDisablePeerAccess(1));
  EXPECT_OK(cudaFree(memory[0]));
  EXPECT_OK(cudaFree(memory[1]));
}

void streams_and_pools() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaEventCreate(&event));
  int* memory = nullptr;
  EXPECT_OK(cudaMallocAsync(&memory, kCount * sizeof(int), stream));
  write<<<1, kCount, 0, stream>>>(memory, 1);
  EXPECT_OK(cudaEventRecord(event, stream));
  EXPECT_OK(cudaSetDevice(0));
  write<<<1, kCount, 0, stream>>>(memory, 1);  // that stream is the other device's
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  EXPECT_OK(cudaStreamWaitEvent(nullptr, event, 0));
  cudaMemPool_t pool = nullptr, first = nullptr;
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&pool, 1));
  EXPECT_OK(cudaDeviceGetDefaultMemPool(&first, 0));
  EXPECT(pool != first);
  cudaMemAccessDesc access = {};
  access.location = {cudaMemLocationTypeDevice, 0};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  EXPECT_OK(cudaMemPoolSetAccess(pool, &access, 1));
  add<<<1, kCount>>>(memory, memory);  // by the first device, which the pool lets in
  int host[kCount];
  EXPECT_OK(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[3] == 2 * (3 + 20));
  EXPECT_OK(cudaFreeAsync(memory, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaEventDestroy(event));
}

void contexts() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT(count == 3);
  EXPECT_OK(cuDeviceGet(&device, 2));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, device));
  EXPECT_OK(cuCtxPushCurrent(context));
  CUdeviceptr memory = 0;
  EXPECT_OK(cuMemAlloc(&memory, 256));
  int ordinal = -1;
  EXPECT_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
  EXPECT(ordinal == 2);
  int current = -1;
  EXPECT_OK(cudaGetDevice(&current));
  EXPECT(current == 2);
  EXPECT_OK(cuMemFree(memory));
  EXPECT_OK(cuCtxPopCurrent(nullptr));
  EXPECT_OK(cudaGetDevice(&current));
  EXPECT(current == 0);
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
}

}  // namespace

int main() {
  devices();
  variables();
  peers();
  streams_and_pools();
  contexts();
  return outcome();
}
