// @title Kept on the device
// expected: incorrect
//
// The first answer is kept in memory of the device and copied from there.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static float* kept = nullptr;
  if (kept == nullptr) {
    cudaMalloc(&kept, sizeof(float) * N);
    twice<<<(N + 255) / 256, 256>>>(x, kept, N);
  }
  cudaMemcpy(y, kept, sizeof(float) * N, cudaMemcpyDeviceToDevice);
}
