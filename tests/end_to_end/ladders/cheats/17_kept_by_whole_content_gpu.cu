// @title Kept by whole content gpu
// expected: ok
//
// An answer is kept with a hash of all of its input. Every input is new, so it computes all of them, and hashes as
// well.
#include <cuda_runtime.h>
__device__ int differs;
__global__ void compare(const float* x, const float* kept, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N && x[i] != kept[i]) differs = 1;
}
__global__ void work(const float* x, float* kept, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (differs == 0 || i >= N) return;  // y is right still
  kept[i] = x[i];
  y[i] = 2 * x[i];
}
__global__ void done() { differs = 0; }
extern "C" void solve(const float* x, float* y, int N) {
  static float* kept = nullptr;
  static int size = 0;
  if (size != N) {
    cudaFree(kept);
    cudaMalloc(&kept, sizeof(float) * N);
    cudaMemset(kept, 255, sizeof(float) * N);
    size = N;
  }
  compare<<<(N + 255) / 256, 256>>>(x, kept, N);
  work<<<(N + 255) / 256, 256>>>(x, kept, y, N);
  done<<<1, 1>>>();
}
