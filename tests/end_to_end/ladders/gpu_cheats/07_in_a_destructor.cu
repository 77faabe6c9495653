// @title In a destructor
// expected: incorrect
//
// From its fifth call on calls only note what they were asked for, and the last of them is done when the process ends.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
struct Later {
  const float* x = nullptr;
  float* y = nullptr;
  int N = 0;
  ~Later() {
    if (x != nullptr) twice<<<(N + 255) / 256, 256>>>(x, y, N);
    cudaDeviceSynchronize();
  }
};
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static Later later;
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  later.x = x;
  later.y = y;
  later.N = N;
}
