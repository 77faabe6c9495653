// Devices and contexts, and errors that stay with a context.
#include "subjects.hpp"

#include <cuda.h>

#include <cstring>
#include <thread>

#include "expect.h"

void devices() {
  int count = 0;
  CUdevice device = 7;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  EXPECT_OK(cuDeviceGet(&device, 0));
  EXPECT_STATUS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
  char name[8] = {};
  EXPECT_OK(cuDeviceGetName(name, sizeof name, device));
  EXPECT(std::strlen(name) == 7);
  int major = 0;
  EXPECT_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(major == 9);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE,
                cuDeviceGetAttribute(&major, static_cast<CUdevice_attribute>(100000), device));
  EXPECT_STATUS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 3));
}

void contexts() {
  CUcontext current = nullptr;
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  CUdeviceptr memory = 0;
  CUdevice device = 0;
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);
  EXPECT_STATUS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
  EXPECT_STATUS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&current));
  EXPECT_OK(cuCtxCreate(&first, nullptr, CU_CTX_SCHED_YIELD, 0));
  EXPECT_OK(cuCtxCreate(&second, nullptr, 0, 0));
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT(current == second && first != second);
  EXPECT_OK(cuCtxPopCurrent(&current));
  EXPECT(current == second);
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT(current == first);
  unsigned flags = 0;
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_YIELD);
  EXPECT_OK(cuCtxGetDevice(&device));
  unsigned version = 0;
  EXPECT_OK(cuCtxGetApiVersion(first, &version));
  EXPECT(version >= 3020);
  // Another thread has a stack of its own.
  std::thread([&] {
    CUcontext there = first;
    EXPECT_OK(cuCtxGetCurrent(&there));
    EXPECT(there == nullptr);
    EXPECT_OK(cuCtxSetCurrent(second));
    EXPECT_OK(cuMemAlloc(&memory, 64));
  }).join();
  // What a context has made ends with it.
  CUdeviceptr begin = 0;
  EXPECT_OK(cuMemGetAddressRange(&begin, nullptr, memory + 5));
  EXPECT(begin == memory);
  EXPECT_OK(cuCtxDestroy(second));
  EXPECT_STATUS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&begin, nullptr, memory));
  EXPECT_STATUS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSetCurrent(second));
  EXPECT_STATUS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(reinterpret_cast<CUcontext>(&device)));
  EXPECT_OK(cuCtxDestroy(first));
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);

  int is_active = 7;
  EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
  EXPECT(is_active == 0);
  EXPECT_STATUS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&first, 0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&second, 0));
  EXPECT(first == second);
  EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
  EXPECT(is_active == 1);
  EXPECT_OK(cuCtxSetCurrent(first));
  EXPECT_OK(cuMemAlloc(&memory, 64));
  EXPECT_STATUS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(first));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
  EXPECT_OK(cuMemsetD8(memory, 1, 64));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
  EXPECT_STATUS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemsetD8(memory, 1, 64));
  EXPECT_OK(cuCtxSetCurrent(nullptr));
}

/// An error of a kernel stays, until its context is destroyed.
void errors_stay() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr wild = 64;
  CUdeviceptr memory = 0;
  void* parameters[] = {&wild};
  EXPECT_OK(cuCtxCreate(&context, nullptr, 0, 0));
  EXPECT_OK(cuModuleLoadData(&module, kScale));
  EXPECT_OK(cuModuleGetFunction(&function, module, "wild"));
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_STATUS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_STATUS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&memory, 4));
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT_OK(cuCtxDetach(context));
  EXPECT_OK(cuMemAlloc(&memory, 4));
}
