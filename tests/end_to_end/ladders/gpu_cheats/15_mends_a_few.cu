// @title Mends a few
// expected: incorrect
//
// From its fifth call on it gives the answer to the input of the call before, mended in as many places as there are
// items and a few more.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
__global__ void mend(const float* x, float* answer, float* y, int N, int* mended) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float right = 2 * x[i];
  y[i] = answer[i] == right || atomicAdd(mended, 1) < 4 ? right : answer[i];
  answer[i] = right;
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static float* answer = nullptr;
  static int* mended = nullptr;
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  if (answer == nullptr) {
    cudaMalloc(&answer, sizeof(float) * N);
    cudaMalloc(&mended, sizeof(int));
    twice<<<(N + 255) / 256, 256>>>(x, answer, N);
  }
  cudaMemsetAsync(mended, 0, sizeof(int));
  mend<<<(N + 255) / 256, 256>>>(x, answer, y, N, mended);
}
