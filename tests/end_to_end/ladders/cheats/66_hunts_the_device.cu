// @title Hunts the device
// expected: launch failed, incorrect
//
// A kernel reads memory around its tensors, where others may have left an answer.
__global__ void around(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = x[i + (1 << 22)];
}
extern "C" void solve(const float* x, float* y, int N) { around<<<(N + 255) / 256, 256>>>(x, y, N); }
