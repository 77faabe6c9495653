// What a program that uses the CUDA driver API alone sees, a file for each subject. Compiled by
// tests/end_to_end/cuda_apis/test_driver_api.py against cuda.h and linked with libcuda.so.1.
#include "subjects.hpp"

#include <cuda.h>

#include <cstring>

#include "expect.h"

namespace {

void before_initialization() {
  int count = 0;
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  EXPECT_STATUS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  EXPECT_STATUS(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
  EXPECT_STATUS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&memory, 4));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  EXPECT_OK(cuInit(0));
  int version = 0;
  EXPECT_OK(cuDriverGetVersion(&version));
  EXPECT(version == 13000);
}

void entry_points() {
  void* found = nullptr;
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_OK(cuGetProcAddress("cuMemAlloc", &found, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found == reinterpret_cast<void*>(&cuMemAlloc) && result == CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_OK(cuGetProcAddress("cuCtxCreate", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found != nullptr && found != reinterpret_cast<void*>(&cuCtxCreate));
  EXPECT_OK(cuGetProcAddress("cuCtxCreate", &found, 12050, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &result));
  EXPECT(found == reinterpret_cast<void*>(&cuCtxCreate));
  EXPECT_OK(cuGetProcAddress("cuTensorMapEncodeTiled", &found, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found == nullptr && result == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_OK(cuGetProcAddress("cuNothing", &found, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT(found == nullptr && result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE,
                cuGetProcAddress("cuMemAlloc", &found, 14000, CU_GET_PROC_ADDRESS_DEFAULT, &result));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuMemAlloc", &found, 13000, 8, &result));
  const char* text = nullptr;
  EXPECT_OK(cuGetErrorName(CUDA_ERROR_NO_BINARY_FOR_GPU, &text));
  EXPECT(std::strcmp(text, "CUDA_ERROR_NO_BINARY_FOR_GPU") == 0);
  EXPECT_OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
  EXPECT(std::strcmp(text, "invalid argument") == 0);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &text));
  EXPECT(text == nullptr);
}

}  // namespace

int main() {
  before_initialization();
  devices();
  contexts();
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxCreate(&context, nullptr, 0, 0));
  modules();
  launches();
  memory();
  events();
  libraries();
  linking();
  entry_points();
  tensor_maps();
  textures();
  graphs();
  errors_stay();
  // One that is not there: it says so.
  CUmemGenericAllocationHandle handle = 0;
  CUmulticastObjectProp team = {};
  EXPECT_STATUS(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&handle, &team));
  EXPECT_OK(cuCtxDestroy(context));
  return outcome();
}
