// A program that calls one of the functions of right.cuh or planted.cuh by its name, in a launch of three blocks, and
// says whether the numbers have come back.
#include <cstdio>
#include <cstring>
#include <vector>

#include "planted.cuh"
#include "right.cuh"

using Through = float (*)(float);

template <Through kThrough>
__global__ void numbers(const float* x, float* y) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = kThrough(x[at]);
}

int main(int argc, char** argv) {
  constexpr int kNumbers = 384;
  std::vector<float> x(kNumbers);
  for (int i = 0; i < kNumbers; ++i) x[i] = static_cast<float>(i % 31) - 15.5F;
  float* in = nullptr;
  float* out = nullptr;
  cudaMalloc(&in, sizeof(float) * kNumbers);
  cudaMalloc(&out, sizeof(float) * kNumbers);
  cudaMemcpy(in, x.data(), sizeof(float) * kNumbers, cudaMemcpyHostToDevice);
#define CALL(space, name) \
  if (argc > 1 && std::strcmp(argv[1], #name) == 0) numbers<space::name><<<3, 128>>>(in, out);
#include "calls.inc"
  std::vector<float> y(kNumbers);
  const cudaError_t error = cudaMemcpy(y.data(), out, sizeof(float) * kNumbers, cudaMemcpyDeviceToHost);
  std::puts(error != cudaSuccess ? cudaGetErrorString(error) : x == y ? "right" : "wrong");
  cudaFree(in);
  cudaFree(out);
  return 0;
}
