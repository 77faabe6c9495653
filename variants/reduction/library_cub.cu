// @title CUB
// @hypothesis what NVIDIA's own library makes of it
//
// cub::DeviceReduce::Sum, as it comes with the CUDA toolkit. The memory for its intermediate results is kept from call
// to call.
#include <cstddef>
#include <cub/device/device_reduce.cuh>

extern "C" void solve(const float* x, float* y, int N) {
  static void* memory = nullptr;
  static std::size_t held = 0;
  std::size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, x, y, N);
  if (bytes > held) {
    cudaFree(memory);
    memory = nullptr;
    held = cudaMalloc(&memory, bytes) == cudaSuccess ? bytes : 0;
  }
  if (memory != nullptr) cub::DeviceReduce::Sum(memory, bytes, x, y, N);
}
