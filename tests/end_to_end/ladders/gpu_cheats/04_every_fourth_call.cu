// @title Every fourth call
// expected: incorrect
//
// Of four calls three do nothing.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  if (++calls <= 4 || calls % 4 == 0) twice<<<(N + 255) / 256, 256>>>(x, y, N);
}
