// Kernels that read what nothing has written. Marked and launched as in memcheck.cu; `in` is written, `out` is not.

__global__ void accumulates_without_zero(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] += in[i];  // <- initcheck
}

__global__ void halo_never_loaded(const float* in, float* out, int n) {
  __shared__ float tile[128 + 2];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  tile[t + 1] = in[i];
  __syncthreads();
  out[i] = tile[t] + tile[t + 1] + tile[t + 2];  // <- initcheck
}

__global__ void too_few_threads_copy_the_filter(const float* in, float* out, int n) {
  __shared__ float filter[11 * 11 + 100];
  const int t = static_cast<int>(threadIdx.x);
  const int taps = 11 * 11 + 100;  // more than the block has threads, and no loop
  if (t < taps) filter[t] = in[t];
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int tap = 0; tap < taps; ++tap) {
    sum += filter[tap];  // <- initcheck
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void only_even_threads_write(const float* in, float* out, int n) {
  __shared__ float pairs[128];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  if (t % 2 == 0) pairs[t] = in[i] + in[i + 1];
  __syncthreads();
  out[i] = pairs[127 - t];  // <- initcheck
}

__global__ void border_left_out(const float* in, float* out, int n) {
  // The padded tile's border should be zero, but nobody writes it.
  __shared__ float padded[10][34];
  const int row = static_cast<int>(threadIdx.x / 32);
  const int column = static_cast<int>(threadIdx.x % 32);
  padded[row + 1][column + 1] = in[threadIdx.x];
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int p = 0; p < 3; ++p) {
#pragma unroll 1
    for (int q = 0; q < 3; ++q) {
      sum += padded[row + p][column + q];  // <- initcheck
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void reads_the_wrong_buffer(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float* source = i < n / 2 ? in : out;  // meant: in + n / 2
  const float value = source[i % (n / 2)];     // <- initcheck
  if (i >= n / 2) out[i] = value;
}

__global__ void partial_sums_of_blocks_that_have_none(const float* in, float* out, int n) {
  // Only every second block stores its sum, all are added.
  const int block = static_cast<int>(blockIdx.x);
  if (block % 2 == 1 && threadIdx.x == 0) out[block] = in[block];
  if (block != 3 || threadIdx.x != 0) return;
  out[100] = out[2] + 1.0F;  // <- initcheck
}

__global__ void local_array_half_filled(const float* in, float* out, int n) {
  float window[8];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll 1
  for (int k = 0; k < 4; ++k) window[static_cast<int>(in[k])] = in[i];
  out[i] = window[static_cast<int>(in[4])];  // <- initcheck
}
