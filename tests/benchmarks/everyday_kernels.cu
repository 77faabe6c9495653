// Kernels as people write them, for simulated_speed: what the simulated device executes beside this project's stages.

/// out[channels][positions] = weights · in + bias: tiles of 128 x 128, 8 x 8 results a thread, vectors of four.
__global__ void __launch_bounds__(256)
    matmul_8x8(float* out, const float* in, const float* weights, int channels, int out_channels) {
  constexpr int kTile = 128;
  constexpr int kDeep = 32;
  __shared__ float left[kTile][kDeep];
  __shared__ float right[kTile][kDeep];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int x = 8 * (static_cast<int>(blockIdx.x) * 16 + tx);
  const int y = 8 * (static_cast<int>(blockIdx.y) * 16 + ty);
  in += kTile * static_cast<int>(blockIdx.x) * channels;
  weights += kTile * static_cast<int>(blockIdx.y) * channels;
  float sums[8][8] = {};
  const int first = 4 * (16 * ty + tx);
  for (int begin = 0; begin < channels; begin += kDeep) {
    __syncthreads();
    for (int row = first / kDeep; row < kTile; row += 32) {
      const int column = first % kDeep;
      *reinterpret_cast<float4*>(&left[row][column]) =
          *reinterpret_cast<const float4*>(in + row * channels + begin + column);
      *reinterpret_cast<float4*>(&right[row][column]) =
          *reinterpret_cast<const float4*>(weights + row * channels + begin + column);
    }
    __syncthreads();
    for (int k = 4 * tx; k < 4 * tx + kDeep; k += 4) {
      float4 factors[8];
      for (int u = 0; u < 8; ++u) factors[u] = *reinterpret_cast<const float4*>(&right[u + 8 * ty][k % kDeep]);
      for (int i = 0; i < 8; ++i) {
        const float4 value = *reinterpret_cast<const float4*>(&left[i + 8 * tx][k % kDeep]);
        for (int j = 0; j < 8; ++j) {
          sums[i][j] += value.x * factors[j].x;
          sums[i][j] += value.y * factors[j].y;
          sums[i][j] += value.z * factors[j].z;
          sums[i][j] += value.w * factors[j].w;
        }
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; j += 4) {
      float4 result;
      result.x = sums[i][j];
      result.y = sums[i][j + 1];
      result.z = sums[i][j + 2];
      result.w = sums[i][j + 3];
      *reinterpret_cast<float4*>(out + (x + i) * out_channels + y + j) = result;
    }
  }
}

/// out = in transposed, both n x n: tiles of 32 x 32 with a column of padding, 32 x 8 threads.
__global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  int y = static_cast<int>(blockIdx.y) * 32 + static_cast<int>(threadIdx.y);
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = static_cast<int>(blockIdx.y) * 32 + static_cast<int>(threadIdx.x);
  y = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.y);
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

/// Rounds until z² + c leaves the circle of radius 2, of n x n points: every thread ends its loop when it likes.
__global__ void mandelbrot(float* out, const float* /*in*/, int n) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (column >= n || row >= n) return;
  const float cx = -2.0F + 3.0F * static_cast<float>(column) / static_cast<float>(n);
  const float cy = -1.5F + 3.0F * static_cast<float>(row) / static_cast<float>(n);
  float x = 0.0F;
  float y = 0.0F;
  int rounds = 0;
  while (rounds < 256 && x * x + y * y < 4.0F) {
    const float next = x * x - y * y + cx;
    y = 2.0F * x * y + cy;
    x = next;
    ++rounds;
  }
  out[row * n + column] = static_cast<float>(rounds);
}

/// One sum a block: a loop over the grid, shuffles, and shared memory.
__global__ void block_sums(float* out, const float* in, int n) {
  __shared__ float sums[32];
  float sum = 0.0F;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    sum += in[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, distance);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0F;
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, distance);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// How often each of 256 values occurs, by atomics in shared memory and then in global memory.
__global__ void histogram(unsigned* out, const unsigned* in, int n) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    atomicAdd(&counts[in[i] % 256], 1U);
  }
  __syncthreads();
  atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}

/// Rows of n numbers: e^(x - largest) / sum, a warp a row.
__global__ void softmax_rows(float* out, const float* in, int n) {
  const int row = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  float largest = -3.0e38F;
  float sum = 0.0F;
  for (int i = lane; i < n; i += 32) {
    const float x = in[row * n + i];
    if (x > largest) {
      sum *= __expf(largest - x);
      largest = x;
    }
    sum += __expf(x - largest);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(0xffffffffU, largest, distance);
    const float other_sum = __shfl_xor_sync(0xffffffffU, sum, distance);
    const float both = fmaxf(largest, other);
    sum = sum * __expf(largest - both) + other_sum * __expf(other - both);
    largest = both;
  }
  for (int i = lane; i < n; i += 32) out[row * n + i] = __expf(in[row * n + i] - largest) / sum;
}

/// A sparse matrix (CSR) times a vector, a row a thread, rows of 1 to 31 elements: out = values · x, where both are in
/// `weights`, and `in` holds columns and where rows begin.
__global__ void spmv(float* out, const unsigned* in, const float* weights, int rows) {
  const auto row = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned end = 16 * (row + 1) + in[row + 1] % 16;
  float sum = 0.0F;
  for (unsigned i = 16 * row + in[row] % 16; i < end; ++i)
    sum += weights[i] * weights[in[i] % static_cast<unsigned>(rows)];
  out[row] = sum;
}

/// A product of n x n matrices as beginners write it: the lanes of a warp have different rows.
__global__ void matmul_uncoalesced(float* out, const float* in, const float* weights, int n) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int column = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  float sum = 0.0F;
  for (int k = 0; k < n; ++k) sum += in[row * n + k] * weights[k * n + column];
  out[row * n + column] = sum;
}

/// Sorts 512 numbers in each block.
__global__ void bitonic_sort(float* out, const float* in, int /*n*/) {
  __shared__ float numbers[512];
  const unsigned i = threadIdx.x;
  numbers[i] = in[blockIdx.x * 512 + i];
  __syncthreads();
  for (unsigned size = 2; size <= 512; size *= 2) {
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      const unsigned other = i ^ distance;
      if (other > i && (numbers[i] > numbers[other]) == ((i & size) == 0)) {
        const float number = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = number;
      }
      __syncthreads();
    }
  }
  out[blockIdx.x * 512 + i] = numbers[i];
}

/// The discrete Fourier transform of 512 complex numbers in each block, by Stockham.
__global__ void fft(float2* out, const float2* in, int /*n*/) {
  __shared__ float2 numbers[2][512];
  const unsigned i = threadIdx.x;
  numbers[0][i] = in[blockIdx.x * 512 + i];
  numbers[0][i + 256] = in[blockIdx.x * 512 + i + 256];
  int from = 0;
  for (unsigned size = 1; size < 512; size *= 2, from ^= 1) {
    __syncthreads();
    const unsigned k = i % size;
    float sine;
    float cosine;
    __sincosf(-3.14159265F * static_cast<float>(k) / static_cast<float>(size), &sine, &cosine);
    const float2 left = numbers[from][i];
    const float2 right = numbers[from][i + 256];
    const float2 turned = {right.x * cosine - right.y * sine, right.x * sine + right.y * cosine};
    numbers[from ^ 1][2 * i - k] = {left.x + turned.x, left.y + turned.y};
    numbers[from ^ 1][2 * i - k + size] = {left.x - turned.x, left.y - turned.y};
  }
  __syncthreads();
  out[blockIdx.x * 512 + i] = numbers[from][i];
  out[blockIdx.x * 512 + i + 256] = numbers[from][i + 256];
}

/// One sum a block, as a tree in shared memory.
__global__ void tree_sums(float* out, const float* in, int /*n*/) {
  __shared__ float sums[256];
  const unsigned i = threadIdx.x;
  sums[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (unsigned distance = 128; distance > 0; distance /= 2) {
    if (i < distance) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (i == 0) out[blockIdx.x] = sums[0];
}

/// Multiply-adds in registers.
__global__ void arithmetic(float* out, const float* in, int rounds) {
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i];
  float sums[4] = {x, x + 1.0F, x + 2.0F, x + 3.0F};
  for (int round = 0; round < rounds; ++round)
    for (float& sum : sums) sum = sum * x + 0.5F;
  out[i] = sums[0] + sums[1] + sums[2] + sums[3];
}
