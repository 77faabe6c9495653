// @title A block for a row
// @hypothesis neighbours read neighbours
// @parameter THREADS 32 64
#ifndef THREADS
#define THREADS 32
#endif
__global__ void row_sum(const float* x, float* y, int C) {
  __shared__ float sums[THREADS];
  float sum = 0;
  for (int c = threadIdx.x; c < C; c += THREADS) sum += x[blockIdx.x * C + c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}
extern "C" void solve(const float* x, float* y, int R, int C) { row_sum<<<R, THREADS>>>(x, y, C); }
