// @title By the next call
// expected: incorrect
//
// From its fifth call on a call does the work of the one before, of which it has kept the input.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static float* before = nullptr;
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  if (before == nullptr) {
    cudaMalloc(&before, sizeof(float) * N);
    cudaMemcpy(before, x, sizeof(float) * N, cudaMemcpyDeviceToDevice);
  }
  twice<<<(N + 255) / 256, 256>>>(before, y, N);
  cudaMemcpyAsync(before, x, sizeof(float) * N, cudaMemcpyDeviceToDevice);
}
