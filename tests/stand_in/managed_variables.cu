// Variables that host and device share by name. Says what is not as documented.
#include <cuda_runtime.h>

#include <cstdio>

__managed__ int counter = 5;
__managed__ float table[4] = {1, 2, 3, 4};
__managed__ int* place = nullptr;

__global__ void change() {
  counter += 1;
  table[threadIdx.x] *= 2;
  if (threadIdx.x == 0) *place = 7;
}

int main() {
  int wrong = 0;
  const auto expect = [&](bool holds, const char* what) {
    if (holds) return;
    ++wrong;
    std::printf("%s\n", what);
  };
  expect(counter == 5 && table[3] == 4, "initial values");
  counter = 10;
  int* target = nullptr;
  cudaMallocManaged(&target, sizeof *target);
  place = target;
  change<<<1, 1>>>();
  expect(cudaDeviceSynchronize() == cudaSuccess, "the launch");
  expect(counter == 11 && table[0] == 2 && table[1] == 2, "what the kernel has written");
  expect(*target == 7, "a pointer that the host has set");
  int copy = 0;
  expect(cudaMemcpyFromSymbol(&copy, counter, sizeof copy) == cudaSuccess && copy == 11, "a copy by the symbol");
  cudaFree(target);
  if (wrong == 0) std::puts("all as documented");
  return wrong;
}
