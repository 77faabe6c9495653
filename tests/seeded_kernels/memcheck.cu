// Kernels that reach memory they must not, each as a person would get it wrong. The line with the mistake's first
// faulty access is marked; nothing else may be found. Launched with 4 blocks of 128 threads, n = 512, `in` and `out` of
// n floats.

__global__ void halo_off_by_one(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0.0F;
  for (int tap = 0; tap <= 2; ++tap) {
    sum += in[i + tap];  // <- memcheck
  }
  out[i] = sum;
}

__global__ void write_past_the_last_image(const float* in, float* out, int n) {
  // The last image is begun although less than an image is left.
  const int image = 100;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i / image > n / image) return;
  const float value = in[i % n];
  out[i + image] = value;  // <- memcheck
}

__global__ void rows_and_columns_swapped(const float* in, float* out, int n) {
  const int height = 4;
  const int width = n / height;
  const int row = static_cast<int>(blockIdx.x);
  const int column = static_cast<int>(threadIdx.x);
  out[row * width + column] = in[column * width + row];  // <- memcheck
}

__global__ void misaligned_vector_load(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n / 4 - 1) return;
  const float4 four = *reinterpret_cast<const float4*>(in + 4 * i + 1);  // <- memcheck
  out[i] = four.x + four.y + four.z + four.w;
}

__global__ void tile_too_small(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  tile[t] = in[i];
  __syncthreads();
  out[i] = tile[t] + tile[t + 1];  // <- memcheck
}

__global__ void before_the_begin(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int left = i - 3;
  out[i] = in[i] + in[left];  // <- memcheck
}

__global__ void local_array_too_short(const float* in, float* out, int n) {
  float last[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 8; ++k) {
    const int at = static_cast<int>(in[k]);
    last[at] += in[i];  // <- memcheck
  }
  out[i] = last[0] + last[1] + last[2] + last[3];
}

__global__ void bytes_for_elements(const float* in, float* out, int n) {
  // The stride was meant in elements and is given in bytes.
  const int stride = static_cast<int>(sizeof(float));
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[i * stride] = in[i];  // <- memcheck
}
