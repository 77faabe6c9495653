// A program that mixes the CUDA runtime and the driver API, as libraries do: memory, streams, events, contexts and
// kernels of one are the other's. Compiled by tests/end_to_end/cuda_apis/test_driver_api.py.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "expect.h"

__device__ int offset = 5;

__global__ void add(int* data, int value) { data[threadIdx.x] += value + offset; }

static const char* const kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 state = 9;
.visible .entry store(.param .u64 store_data, .param .u32 store_value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [store_data];
  ld.param.u32 %r1, [store_value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

int main() {
  // The runtime's first call makes the primary context and leaves it current.
  EXPECT_OK(cudaFree(nullptr));
  CUcontext current = nullptr;
  CUcontext primary = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT(current != nullptr && current == primary);
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));

  int* data = nullptr;
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaMalloc(&data, 4 * sizeof(int)));
  EXPECT_OK(cudaMemset(data, 0, 4 * sizeof(int)));
  EXPECT_OK(cudaStreamCreate(&stream));
  CUcontext of_stream = nullptr;
  EXPECT_OK(cuStreamGetCtx(stream, &of_stream));
  EXPECT(of_stream == primary);

  // A kernel of the program, launched by the driver; and one of PTX, launched by the runtime.
  cudaFunction_t function = nullptr;
  EXPECT_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)));
  int value = 10;
  void* arguments[] = {&data, &value};
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, stream, arguments, nullptr));
  add<<<1, 4, 0, stream>>>(data, 100);
  cudaKernel_t kernel = nullptr;
  EXPECT_OK(cudaGetKernel(&kernel, reinterpret_cast<const void*>(add)));
  EXPECT_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(4), arguments, 0, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  int host[4] = {};
  EXPECT_OK(cuMemcpyDtoH(host, reinterpret_cast<CUdeviceptr>(data), sizeof host));
  EXPECT(host[0] == 135 && host[3] == 135);

  cudaLibrary_t library = nullptr;
  cudaKernel_t store = nullptr;
  EXPECT_OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_OK(cudaLibraryGetKernel(&store, library, "store"));
  EXPECT_OK(cudaLaunchKernel(reinterpret_cast<const void*>(store), dim3(1), dim3(1), arguments, 0, nullptr));
  EXPECT_OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 10 && host[1] == 135);
  void* state = nullptr;
  std::size_t bytes = 0;
  EXPECT_OK(cudaLibraryGetGlobal(&state, &bytes, library, "state"));
  EXPECT_OK(cudaMemcpy(host, state, 4, cudaMemcpyDefault));
  EXPECT(bytes == 4 && host[0] == 9);
  std::size_t place = 0;
  EXPECT_OK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store), 1, &place, &bytes));
  EXPECT(place == 8 && bytes == 4);
  EXPECT_OK(cudaLibraryUnload(library));

  // An event of one, recorded and waited for by the other.
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cuEventRecord(event, stream));
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT_OK(cuEventDestroy(event));

  // Errors of the driver are not the runtime's last error.
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
  EXPECT_OK(cudaGetLastError());
  EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy(data, host, 1 << 20, cudaMemcpyHostToDevice));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT_OK(cudaGetLastError());

  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 12000, cudaEnableDefault, &result));
  EXPECT(found == reinterpret_cast<void*>(&cuMemAlloc) && result == cudaDriverEntryPointSuccess);
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuNothing", &found, 12000, cudaEnableDefault, &result));
  EXPECT(found == nullptr && result == cudaDriverEntryPointSymbolNotFound);

  EXPECT_OK(cuMemFree(reinterpret_cast<CUdeviceptr>(data)));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(data));

  // What the driver makes current is where the runtime works.
  CUcontext own = nullptr;
  EXPECT_OK(cuCtxCreate(&own, nullptr, 0, 0));
  EXPECT_OK(cudaMalloc(&data, 16));
  EXPECT_OK(cuCtxDestroy(own));
  EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(data));
  EXPECT_OK(cudaMalloc(&data, 16));
  EXPECT_OK(cudaDeviceReset());
  EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(data));
  return outcome();
}
