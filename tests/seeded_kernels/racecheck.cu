// Kernels whose threads touch the same memory in no defined order. Marked and launched as in memcheck.cu; here `out` is
// written before (zeros). A race has two ends, and either may be named.

__global__ void no_barrier_after_the_load(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  tile[t] = in[i];         // <- racecheck
  out[i] = tile[127 - t];  // <- racecheck initcheck
}

__global__ void no_barrier_before_the_next_tile(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = static_cast<int>(threadIdx.x);
  float sum = 0.0F;
#pragma unroll 1
  for (int first = 0; first < n; first += 128) {
    tile[t] = in[first + t];  // <- racecheck
    __syncthreads();
    sum += tile[127 - t];  // <- racecheck
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void reduction_without_barriers(const float* in, float* out, int n) {
  __shared__ float sums[128];
  const int t = static_cast<int>(threadIdx.x);
  sums[t] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];  // <- racecheck
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void warp_in_lockstep(const float* in, float* out, int n) {
  // Right as long as a warp moves in lockstep, which no GPU since Volta promises: __syncwarp() is missing.
  __shared__ float values[128];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[t];
  out[blockIdx.x * blockDim.x + threadIdx.x] = values[t ^ 1];  // <- racecheck
}

__global__ void counts_without_atomics(const float* in, float* out, int n) {
  const int bin = static_cast<int>(in[threadIdx.x]) % 4;
  out[bin] = out[bin] + 1.0F;  // <- racecheck
}

__global__ void blocks_overlap(const float* in, float* out, int n) {
  // Each block writes 129 values: the last one is the next block's first.
  const int first = static_cast<int>(blockIdx.x * blockDim.x);
  const int t = static_cast<int>(threadIdx.x);
  const float value = in[first + t];
  for (int i = t; i < 129; i += 128) {
    if (first + i < n) out[first + i] = value;  // <- racecheck
  }
}

__global__ void shared_counter(const float* in, float* out, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (in[threadIdx.x] > 2.0F) ++count;  // <- racecheck
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<float>(count);
}

__global__ void stencil_in_place(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (blockIdx.x != 0) return;
  const float right = out[(t + 32) % 128];  // <- racecheck
  out[t] = right + in[t];                   // <- racecheck
}
