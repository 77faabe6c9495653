// @title CUB
// @hypothesis what NVIDIA's own library makes of it
//
// cub::DeviceScan::InclusiveSum, as it comes with the CUDA toolkit: a scan by looking back. The memory for its
// intermediate results is kept from call to call.
#include <cstddef>
#include <cub/device/device_scan.cuh>

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  static void* memory = nullptr;
  static std::size_t held = 0;
  std::size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, x, y, N);
  if (bytes > held) {
    cudaFree(memory);
    memory = nullptr;
    held = cudaMalloc(&memory, bytes) == cudaSuccess ? bytes : 0;
  }
  if (memory != nullptr) cub::DeviceScan::InclusiveSum(memory, bytes, x, y, N);
}
