// Kernels whose threads do not all reach a barrier. Marked and launched as in memcheck.cu; what the mistake leads to
// may be found as well, where it is marked.

__global__ void barrier_in_a_branch(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  float value = 0.0F;
  tile[t] = in[i];
  if (t < 100) {
    __syncthreads();  // <- synccheck
    value = tile[99 - t];
  }
  out[i] = value;
}

__global__ void votes_as_long_as_the_thread_likes(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  float votes = 0.0F;
#pragma unroll 1
  for (int k = 0; k < 2 + t % 3; ++k) {
    votes += __any_sync(0xffffffffU, in[i] > static_cast<float>(k)) ? 1.0F : 0.0F;  // <- synccheck
  }
  out[i] = votes;
}

__global__ void loop_as_long_as_the_thread_likes(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = static_cast<int>(threadIdx.x);
  float sum = 0.0F;
#pragma unroll 1
  for (int k = 0; k < 2 + t % 3; ++k) {
    tile[t] = in[k * 128 + t];  // <- racecheck
    __syncthreads();            // <- synccheck
    sum += tile[127 - t];       // <- racecheck
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void leaves_the_loop_alone(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = static_cast<int>(threadIdx.x);
  float sum = 0.0F;
#pragma unroll 1
  for (int k = 0; k < 3; ++k) {
    if (in[k] > 1.0F && t == 5) break;
    tile[t] = in[k * 128 + t];
    __syncthreads();  // <- synccheck
    sum += tile[t];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void warp_barrier_with_absent_lanes(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  out[i] = in[i];
  if (t % 32 < 16) {
    __syncwarp();  // <- synccheck
    out[i] += 1.0F;
  } else {
    __syncthreads();
  }
}

__global__ void shuffle_in_a_branch(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  float value = in[i];
  if (t % 32 < 20) {
    value += __shfl_down_sync(0xffffffffU, value, 16);  // <- synccheck
  }
  out[i] = value;
}

__global__ void vote_with_absent_lanes(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float value = in[i];
  if (i % 2 == 0) {
    value = __any_sync(0xffffffffU, value > 3.0F) ? 1.0F : 0.0F;  // <- synccheck
  }
  out[i] = value;
}

__global__ void barrier_for_more_than_come(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = in[i];
  if (threadIdx.x < 64) {
    asm volatile("bar.sync 1, 96;" ::: "memory");  // <- synccheck
  }
  out[i] += 1.0F;
}
