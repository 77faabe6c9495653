// @title One thread for each element
// @hypothesis Neighbouring threads have neighbouring rows: each load of A and each store touches 32 sectors.
//
// The formula as it reads: a thread goes along a row of A and down a column of B. Threads that lie next to each other
// in a warp take rows that lie below each other, as one would index a matrix.
//
// What it costs: at the same time the 32 threads of a warp want the same column of 32 rows of A, K floats apart: 32
// sectors of 32 bytes for 4 bytes each, and the same again for each store. What the warp wants of B is one element for
// all. It never wins; everything above is compared with it.
#include <cstddef>

__global__ void multiply_naive(const float* a, const float* b, float* c, int M, int N, int K) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (i >= M || j >= N) return;
  const std::size_t columns = static_cast<std::size_t>(N);
  float sum = 0.0F;
#pragma unroll 1
  for (int k = 0; k < K; ++k) sum += a[static_cast<std::size_t>(i) * K + k] * b[k * columns + j];
  c[i * columns + j] = sum;
}

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const dim3 block(32, 8);
  const dim3 grid((M + 31) / 32, (N + 7) / 8);
  multiply_naive<<<grid, block>>>(a, b, c, M, N, K);
}
