// Kernels and variables of several files, which the device's linker joins.
#include <cstdio>

__managed__ int managed = 5;
__device__ int device = 2;
__constant__ int constant[2] = {1, 2};
__device__ int of_other_file(int x);

// Functions whose names are like the runtime's are the program's own.
extern "C" int cudaOwnFunction(int x) { return x * 10; }

__global__ void change() { managed += of_other_file(device) + constant[1]; }

int main() {
  int value = cudaOwnFunction(4);
  cudaMemcpyToSymbol(device, &value, sizeof value);
  change<<<1, 1>>>();
  value = 0;
  cudaMemcpyFromSymbol(&value, device, sizeof value);
  std::printf("managed %d, device %d\n", managed, value);
  return 0;
}
