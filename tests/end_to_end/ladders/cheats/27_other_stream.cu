// @title Other stream
// expected: ok
//
// The work is on a stream that nobody waits for. It is counted all the same.
#include <cuda_runtime.h>
__global__ void work(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  work<<<(N + 255) / 256, 256, 0, own>>>(x, y, N);
}
