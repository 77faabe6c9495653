// @title Works while others wait
// expected: timeout
//
// A kernel that never ends looks at the input all the time, on another stream, and has the answer ready. It is not
// started before the fifth call.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
__global__ void ahead_of_all(const volatile float* x, volatile float* ahead, int N, const volatile int* ends) {
  while (*ends == 0) {
    for (int i = threadIdx.x; i < N; i += blockDim.x) ahead[i] = 2 * x[i];
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static float* ahead = nullptr;
  static int* ends = nullptr;
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  if (ahead == nullptr) {
    cudaMalloc(&ahead, sizeof(float) * N);
    cudaMallocHost(&ends, sizeof(int));
    *ends = 0;
    cudaStream_t own = nullptr;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    ahead_of_all<<<1, 1024, 0, own>>>(x, ahead, N, ends);
  }
  cudaMemcpyAsync(y, ahead, sizeof(float) * N, cudaMemcpyDeviceToDevice);
}
