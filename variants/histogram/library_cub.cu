// @title CUB
// @hypothesis what NVIDIA's own library makes of it
//
// cub::DeviceHistogram::HistogramEven, as it comes with the CUDA toolkit, for levels from 0 to 65536. The memory for
// its intermediate results is kept from call to call.
#include <cstddef>
#include <cstdint>
#include <cub/device/device_histogram.cuh>

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  static void* memory = nullptr;
  static std::size_t held = 0;
  std::size_t bytes = 0;
  cub::DeviceHistogram::HistogramEven(nullptr, bytes, keys, counts, B + 1, 0, 65536, N);
  if (bytes > held) {
    cudaFree(memory);
    memory = nullptr;
    held = cudaMalloc(&memory, bytes) == cudaSuccess ? bytes : 0;
  }
  if (memory != nullptr) cub::DeviceHistogram::HistogramEven(memory, bytes, keys, counts, B + 1, 0, 65536, N);
}
