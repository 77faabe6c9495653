// @title Writes inputs on the device
// expected: incorrect
//
// Input and output are made to agree by writing the input.
__global__ void zero(float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) x[i] = y[i] = 0;
}
extern "C" void solve(const float* x, float* y, int N) { zero<<<(N + 255) / 256, 256>>>(const_cast<float*>(x), y, N); }
