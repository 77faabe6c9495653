// @title Once
// expected: incorrect
//
// A kernel runs in the first call; later calls find its output and leave it.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  if (calls++ == 0) twice<<<(N + 255) / 256, 256>>>(x, y, N);
}
