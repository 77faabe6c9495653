// Kernels that reach for what they may not: a peer's memory without access to it, addresses at which nothing is
// mapped, and a place behind an allocation, in a kernel that a kernel launches; and one that copies memory that nothing
// has written. Run with two devices. Compiled with -rdc=true.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__global__ void read_peer(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void write_unmapped(int* to) { to[threadIdx.x] = 1; }
__global__ void child(int* to) { to[threadIdx.x] = 2; }
__global__ void parent(int* to, int count) { child<<<1, count>>>(to); }
__global__ void copies(int* to, const int* from) { cudaMemcpyAsync(to, from, 64, cudaMemcpyDeviceToDevice, 0); }

int main(int, char** arguments) {
  int *here = nullptr, *there = nullptr;
  cudaMalloc(&here, 128);
  if (std::strcmp(arguments[1], "peer") == 0) {
    cudaSetDevice(1);
    cudaMalloc(&there, 128);
    cudaMemset(there, 0, 128);
    cudaSetDevice(0);
    read_peer<<<1, 32>>>(here, there);
  } else if (std::strcmp(arguments[1], "unmapped") == 0) {
    CUdeviceptr reserved = 0;
    cuMemAddressReserve(&reserved, 2 << 20, 0, 0, 0);
    write_unmapped<<<1, 32>>>(reinterpret_cast<int*>(reserved));
  } else if (std::strcmp(arguments[1], "copied") == 0) {
    int half[16];
    cudaMalloc(&there, 64);
    cudaMemset(there, 0, 32);
    copies<<<1, 1>>>(here, there);
    cudaMemcpy(half, here, 64, cudaMemcpyDeviceToHost);
  } else {
    parent<<<1, 1>>>(here, 40);
  }
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
