// A program that mixes the CUDA runtime and the driver API, as libraries do: memory, streams, events, contexts and
// kernels of one are the other's. Compiled by tests/end_to_end/test_driver_api.py. It prints what is wrong, and ends
// with 1.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static int failures = 0;

static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define WORKS(call) expect(static_cast<int>(call) == 0, #call, __LINE__)

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
  WORKS(cudaFree(nullptr));
  CUcontext current = nullptr;
  CUcontext primary = nullptr;
  WORKS(cuCtxGetCurrent(&current));
  WORKS(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT(current != nullptr && current == primary);
  WORKS(cuDevicePrimaryCtxRelease(0));

  int* data = nullptr;
  cudaStream_t stream = nullptr;
  WORKS(cudaMalloc(&data, 4 * sizeof(int)));
  WORKS(cudaMemset(data, 0, 4 * sizeof(int)));
  WORKS(cudaStreamCreate(&stream));
  CUcontext of_stream = nullptr;
  WORKS(cuStreamGetCtx(stream, &of_stream));
  EXPECT(of_stream == primary);

  // A kernel of the program, launched by the driver; and one of PTX, launched by the runtime.
  cudaFunction_t function = nullptr;
  WORKS(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)));
  int value = 10;
  void* arguments[] = {&data, &value};
  WORKS(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, stream, arguments, nullptr));
  add<<<1, 4, 0, stream>>>(data, 100);
  cudaKernel_t kernel = nullptr;
  WORKS(cudaGetKernel(&kernel, reinterpret_cast<const void*>(add)));
  WORKS(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(4), arguments, 0, stream));
  WORKS(cuStreamSynchronize(stream));
  int host[4] = {};
  WORKS(cuMemcpyDtoH(host, reinterpret_cast<CUdeviceptr>(data), sizeof host));
  EXPECT(host[0] == 135 && host[3] == 135);

  cudaLibrary_t library = nullptr;
  cudaKernel_t store = nullptr;
  WORKS(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  WORKS(cudaLibraryGetKernel(&store, library, "store"));
  WORKS(cudaLaunchKernel(reinterpret_cast<const void*>(store), dim3(1), dim3(1), arguments, 0, nullptr));
  WORKS(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 10 && host[1] == 135);
  void* state = nullptr;
  std::size_t bytes = 0;
  WORKS(cudaLibraryGetGlobal(&state, &bytes, library, "state"));
  WORKS(cudaMemcpy(host, state, 4, cudaMemcpyDefault));
  EXPECT(bytes == 4 && host[0] == 9);
  std::size_t place = 0;
  WORKS(cudaFuncGetParamInfo(reinterpret_cast<const void*>(store), 1, &place, &bytes));
  EXPECT(place == 8 && bytes == 4);
  WORKS(cudaLibraryUnload(library));

  // An event of one, recorded and waited for by the other.
  cudaEvent_t event = nullptr;
  WORKS(cudaEventCreate(&event));
  WORKS(cuEventRecord(event, stream));
  WORKS(cudaEventSynchronize(event));
  WORKS(cuEventDestroy(event));

  // Errors of the driver are not the runtime's last error.
  EXPECT(cuMemFree(12345) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaMemcpy(data, host, 1 << 20, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);

  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  WORKS(cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 12000, cudaEnableDefault, &result));
  EXPECT(found == reinterpret_cast<void*>(&cuMemAlloc) && result == cudaDriverEntryPointSuccess);
  WORKS(cudaGetDriverEntryPointByVersion("cuNothing", &found, 12000, cudaEnableDefault, &result));
  EXPECT(found == nullptr && result == cudaDriverEntryPointSymbolNotFound);

  WORKS(cuMemFree(reinterpret_cast<CUdeviceptr>(data)));
  EXPECT(cudaFree(data) == cudaErrorInvalidValue);

  // What the driver makes current is where the runtime works.
  CUcontext own = nullptr;
  WORKS(cuCtxCreate(&own, nullptr, 0, 0));
  WORKS(cudaMalloc(&data, 16));
  WORKS(cuCtxDestroy(own));
  EXPECT(cudaFree(data) == cudaErrorInvalidValue);
  WORKS(cudaMalloc(&data, 16));
  WORKS(cudaDeviceReset());
  EXPECT(cudaFree(data) == cudaErrorInvalidValue);
  std::puts(failures == 0 ? "all as documented" : "not as documented");
  return failures == 0 ? 0 : 1;
}
