// @title One block per row
// @hypothesis the threads of a warp load neighbours: an eighth of the sectors
// @parameter THREADS 256 128 512
//
// Against the stage below, a row belongs to a block. Its threads take every 256th element each, so a warp loads 128
// bytes in a row, four sectors instead of 32, and there are as many warps at work as a GPU can hold. The threads'
// largest elements, and later their sums, are combined in shared memory: half of the threads take those of the other
// half, then a quarter, until one is left. That relieves the path to the L2 and fills the machine.
//
// When it loses: each of the two reductions takes ten barriers, as long as a thread needs for dozens of
// elements: rows of a few hundred elements mostly wait. Rows of less than 256 leave threads idle.
#ifndef THREADS
#define THREADS 256
#endif

/// Combines the values of all threads with `combine`; every thread gets the result.
template <typename Combine>
__device__ float of_block(float value, Combine combine) {
  __shared__ float shared[THREADS];
  const int thread = static_cast<int>(threadIdx.x);
  shared[thread] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] = combine(shared[thread], shared[thread + half]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();  // everyone has it before the next reduction writes there
  return result;
}

__global__ void softmax(const float* x, float* y, int C) {
  x += static_cast<size_t>(blockIdx.x) * C;
  y += static_cast<size_t>(blockIdx.x) * C;
  const int thread = static_cast<int>(threadIdx.x);

  float largest = -INFINITY;
  for (int c = thread; c < C; c += THREADS) largest = fmaxf(largest, x[c]);
  largest = of_block(largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int c = thread; c < C; c += THREADS) sum += expf(x[c] - largest);
  sum = of_block(sum, [](float a, float b) { return a + b; });
  for (int c = thread; c < C; c += THREADS) y[c] = expf(x[c] - largest) / sum;
}

extern "C" void solve(const float* x, float* y, int R, int C) { softmax<<<R, THREADS>>>(x, y, C); }
