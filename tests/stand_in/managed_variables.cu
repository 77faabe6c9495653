// Variables that host and device share by name.
#include <cuda_runtime.h>

#include "expect.h"

__managed__ int counter = 5;
__managed__ float table[4] = {1, 2, 3, 4};
__managed__ int* place = nullptr;

__global__ void change() {
  counter += 1;
  table[threadIdx.x] *= 2;
  if (threadIdx.x == 0) *place = 7;
}

int main() {
  EXPECT(counter == 5 && table[3] == 4);
  counter = 10;
  int* target = nullptr;
  EXPECT_OK(cudaMallocManaged(&target, sizeof *target));
  place = target;
  change<<<1, 1>>>();
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(counter == 11 && table[0] == 2 && table[1] == 2);
  EXPECT(*target == 7);
  int copy = 0;
  EXPECT_OK(cudaMemcpyFromSymbol(&copy, counter, sizeof copy));
  EXPECT(copy == 11);
  EXPECT_OK(cudaFree(target));
  return outcome();
}
