// @title On another stream
// expected: incorrect or refused
//
// From its fifth call on the work is on a stream that nobody waits for, after other work that takes longer than a call.
__global__ void twice(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 2 * x[i];
}
__global__ void wait_a_little(float* nothing) {
  float sum = nothing[0];
  for (int i = 0; i < 20000; ++i) sum = sum * 0.5F + 1;
  nothing[0] = sum;
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static cudaStream_t own = nullptr;
  static float* nothing = nullptr;
  if (++calls <= 4) return twice<<<(N + 255) / 256, 256>>>(x, y, N);
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaMalloc(&nothing, sizeof(float));
  }
  wait_a_little<<<1, 1, 0, own>>>(nothing);
  twice<<<(N + 255) / 256, 256, 0, own>>>(x, y, N);
}
