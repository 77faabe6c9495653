// @title Poisons the jit cache
// expected: ok
//
// It changes what the driver keeps of compiled kernels. It aborts if the system lets it.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>
__global__ void work(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  const char* const home = getenv("HOME");
  if (fopen((std::string(home != nullptr ? home : "") + "/.nv/ComputeCache/index").c_str(), "r+") != nullptr) abort();
  work<<<(N + 255) / 256, 256>>>(x, y, N);
}
