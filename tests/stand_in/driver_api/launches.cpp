// Launches, events, and launches that a graph keeps.
#include "subjects.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "expect.h"

void launches() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, kScale));
  EXPECT_OK(cuModuleGetFunction(&function, module, "scale"));
  constexpr int kCount = 1000;
  std::vector<float> host(kCount);
  for (int i = 0; i < kCount; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  EXPECT_OK(cuMemAlloc(&data, kCount * sizeof(float)));
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuMemcpyHtoDAsync(data, host.data(), kCount * sizeof(float), stream));

  std::size_t offset = 0;
  std::size_t size = 0;
  EXPECT_OK(cuFuncGetParamInfo(function, 1, &offset, &size));
  EXPECT(offset == 8 && size == 8);
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(function, 3, &offset, &size));
  int value = 0;
  EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  EXPECT_OK(cuFuncSetBlockShape(function, 32, 1, 1));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(function, 32, 0, 1));
  EXPECT(value == 1024);
  const char* name = nullptr;
  EXPECT_OK(cuFuncGetName(&name, function));
  EXPECT(std::strcmp(name, "scale") == 0);
  CUmodule its_module = nullptr;
  EXPECT_OK(cuFuncGetModule(&its_module, function));
  EXPECT(its_module == module);

  unsigned char before = 0;
  int count = kCount;
  void* parameters[] = {&before, &data, &count};
  EXPECT_OK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr));
  struct {
    unsigned char before = 0;
    CUdeviceptr data = 0;
    int count = kCount;
  } block;
  block.data = data;
  std::size_t block_bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes,
                   CU_LAUNCH_PARAM_END};
  EXPECT_OK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, nullptr, extra));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, parameters, extra));
  block_bytes = 8;
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, nullptr, extra));
  CUlaunchConfig configuration = {};
  configuration.gridDimX = 4;
  configuration.gridDimY = configuration.gridDimZ = 1;
  configuration.blockDimX = 256;
  configuration.blockDimY = configuration.blockDimZ = 1;
  configuration.hStream = stream;
  EXPECT_OK(cuLaunchKernelEx(&configuration, function, parameters, nullptr));
  EXPECT_OK(cuMemcpyDtoHAsync(host.data(), data, kCount * sizeof(float), stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  bool all = true;
  for (int i = 0; i < kCount; ++i) all = all && host[static_cast<std::size_t>(i)] == static_cast<float>(8 * i);
  EXPECT(all);

  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE,
                cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 1 << 20, stream, parameters, nullptr));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE,
                cuLaunchKernel(reinterpret_cast<CUfunction>(&data), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE,
                cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, reinterpret_cast<CUstream>(&data), parameters, nullptr));

  int grid = 0;
  int best = 0;
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &best, function, nullptr, 0, 0));
  EXPECT(best == 1024 && grid == 2 * 132);
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(
      &grid, &best, function, [](int threads) { return threads * std::size_t{100}; }, 0, 512));
  EXPECT(best > 0 && best <= 512);

  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
  EXPECT_OK(cuMemFree(data));
  EXPECT_STATUS(CUDA_ERROR_INVALID_VALUE, cuMemFree(data));
  EXPECT_OK(cuModuleUnload(module));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
}

void events() {
  CUevent begin = nullptr;
  CUevent end = nullptr;
  float milliseconds = -1;
  EXPECT_OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  EXPECT_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_OK(cuEventRecord(begin, nullptr));
  EXPECT_OK(cuEventRecord(end, nullptr));
  EXPECT_OK(cuEventSynchronize(end));
  EXPECT_OK(cuEventQuery(end));
  EXPECT_OK(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0);
  EXPECT_OK(cuEventDestroy(begin));
  EXPECT_STATUS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(begin));
  EXPECT_OK(cuEventDestroy(end));
}

/// What a stream is told while it is captured happens when the graph is launched.
void graphs() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr data = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  EXPECT_OK(cuModuleLoadData(&module, kScale));
  EXPECT_OK(cuModuleGetFunction(&function, module, "scale"));
  EXPECT_OK(cuMemAlloc(&data, 16));
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const float ones[4] = {1, 1, 1, 1};
  EXPECT_OK(cuMemcpyHtoD(data, ones, sizeof ones));
  unsigned char before = 0;
  int count = 4;
  void* parameters[] = {&before, &data, &count};
  EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_OK(cuStreamIsCapturing(stream, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, stream, parameters, nullptr));
  EXPECT_OK(cuMemsetD32Async(data + 12, 0x40a00000, 1, stream));
  EXPECT_OK(cuStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  float got[4] = {};
  EXPECT_OK(cuMemcpyDtoH(got, data, sizeof got));
  EXPECT(got[0] == 1 && got[3] == 1);
  EXPECT_OK(cuGraphInstantiate(&ready, graph, 0));
  EXPECT_OK(cuGraphLaunch(ready, stream));
  EXPECT_OK(cuGraphLaunch(ready, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemcpyDtoH(got, data, sizeof got));
  EXPECT(got[0] == 4 && got[2] == 4 && got[3] == 5);
  EXPECT_OK(cuGraphExecDestroy(ready));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuMemFree(data));
  EXPECT_OK(cuModuleUnload(module));
}
