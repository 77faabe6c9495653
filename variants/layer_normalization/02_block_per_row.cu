// @title One block per row
// @hypothesis the threads of a warp load neighbours: an eighth of the sectors of x and y
// @parameter THREADS 256 128 512
//
// Against the stage below, a row belongs to a block. Its threads take every 256th element each, so a warp loads 128
// bytes in a row, four sectors instead of 32, and there are as many warps at work as a GPU can hold. The threads'
// partial sums are combined in shared memory: half of the threads add those of the other half, then a quarter, until
// one is left. That relieves the path to the L2 and fills the machine, and a sum rounds a few times in a row, not C
// times.
//
// When it loses: each of the two sums takes ten barriers, as long as a thread needs for dozens of elements: rows of a
// few hundred elements mostly wait. Gain and bias are read once for each row by another block: they come from the L2.
#ifndef THREADS
#define THREADS 256
#endif

/// The sum of the values of all threads; every thread gets it.
__device__ float sum_of_block(float value) {
  __shared__ float shared[THREADS];
  const int thread = static_cast<int>(threadIdx.x);
  shared[thread] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  const float sum = shared[0];
  __syncthreads();  // everyone has it before the next sum is put there
  return sum;
}

__global__ void normalize(const float* x, const float* gain, const float* bias, float* y, float epsilon, int C) {
  x += static_cast<size_t>(blockIdx.x) * C;
  y += static_cast<size_t>(blockIdx.x) * C;
  const int thread = static_cast<int>(threadIdx.x);

  float sum = 0;
  for (int c = thread; c < C; c += THREADS) sum += x[c];
  const float mean = sum_of_block(sum) / static_cast<float>(C);
  float squares = 0;
  for (int c = thread; c < C; c += THREADS) squares += (x[c] - mean) * (x[c] - mean);
  const float factor = 1 / sqrtf(sum_of_block(squares) / static_cast<float>(C) + epsilon);
  for (int c = thread; c < C; c += THREADS) y[c] = (x[c] - mean) * factor * gain[c] + bias[c];
}

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  normalize<<<R, THREADS>>>(x, gain, bias, y, epsilon, C);
}
