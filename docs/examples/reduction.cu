// The sum of n numbers. Each block adds up its part in shared memory, the last warp with shuffles, and its first thread
// adds the block's sum to the result.

extern "C" __global__ void reduction(const float* x, float* sum, int n) {
  __shared__ float partial[256];
  const int thread = threadIdx.x;

  float mine = 0.0F;
  for (int i = blockIdx.x * blockDim.x + thread; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  partial[thread] = mine;
  __syncthreads();

  for (int width = blockDim.x / 2; width >= 32; width /= 2) {
    if (thread < width) partial[thread] += partial[thread + width];
    __syncthreads();
  }

  if (thread < 32) {
    float value = partial[thread];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    if (thread == 0) atomicAdd(sum, value);
  }
}
