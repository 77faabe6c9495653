// @title A thread per element
// @launch product grid(div(N + 31, 32), div(M + 7, 8)) block(32, 8)
__global__ void product(const __half* a, const __half* b, float* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += __half2float(a[m * K + k]) * __half2float(b[k * N + n]);
  c[m * N + n] = sum;
}
