// @title Replays its output
// expected: gains nothing
//
// From its fifth call on it copies an answer that it has kept, and computes anew only where some elements of the input
// are others.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
__global__ void look(const float* x, float* seen, int N, int* differs) {
  const int i = threadIdx.x * (N / 32);
  if (x[i] != seen[i]) *differs = 1;
  seen[i] = x[i];
}
__global__ void give(const float* x, float* kept, float* y, int N, const int* differs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  if (*differs != 0) kept[i] = 2 * x[i];
  y[i] = kept[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static float* kept = nullptr;
  static float* seen = nullptr;
  static int* differs = nullptr;
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  if (kept == nullptr) {
    cudaMalloc(&kept, sizeof(float) * N);
    cudaMalloc(&seen, sizeof(float) * N);
    cudaMalloc(&differs, sizeof(int));
    cudaMemset(seen, 255, sizeof(float) * N);
  }
  cudaMemsetAsync(differs, 0, sizeof(int));
  if (calls % 2 == 0) look<<<1, 32>>>(x, seen, N, differs);
  give<<<(N + 255) / 256, 256>>>(x, kept, y, N, differs);
}
