// How often each of 256 values occurs in n bytes. A block counts in shared memory first, where threads that meet at the
// same bin cost less, and adds its counts to the result at the end.

extern "C" __global__ void histogram(const unsigned char* values, unsigned* bins, int n) {
  __shared__ unsigned counts[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) counts[bin] = 0;
  __syncthreads();

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[values[i]], 1);
  }
  __syncthreads();

  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], counts[bin]);
}
