// Kernels that `convladder check` looks at without running them, in blocks of 128 threads. A line in which something is
// to be found ends with what: "FINDING kind" or "note kind", and for costs "found/possible"; "by clang" where nvcc
// makes other accesses of it. What concerns a whole kernel stands where it begins. In other lines nothing is found.

__global__ void barrier_under_a_bound(float* out, const float* in, int n) {
  __shared__ float tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    tile[threadIdx.x] = in[i];
    __syncthreads();  // FINDING barrier
    out[i] = tile[127 - threadIdx.x];
  }
  in += 128;
  if (n > 5) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void barrier_for_some_warps(float* out, const float* in) {
  __shared__ float tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 64) __syncthreads();  // FINDING barrier
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void barrier_of_odd_threads(float* out, const float* in) {
  __shared__ float tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  if ((threadIdx.x & 1) != 0) {
    __syncthreads();  // FINDING barrier
    tile[threadIdx.x] += 1;
  }
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void barrier_by_data(float* out, const float* in) {
  __shared__ float tile[128];
  const float value = in[threadIdx.x];
  tile[threadIdx.x] = value;
  if (value > 1) {
    __syncthreads();  // note barrier
    tile[threadIdx.x] += 1;
  }
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void barrier_by_a_vote(float* out, const float* in) {
  __shared__ float tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  if (__ballot_sync(0xffffffff, in[threadIdx.x] > 0) == 0x0f0f0f0f) {
    __syncthreads();  // note barrier
    tile[threadIdx.x] += 1;
  }
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void all_but_one_meet(float* out, int n) {
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x == i) continue;
    __syncthreads();  // FINDING barrier
    out[threadIdx.x] += i;
  }
  out[n] = 0;
}

__global__ void barrier_in_a_loop_of_each(float* out, const float* in, int n) {
  __shared__ float tile[128];
  for (int i = threadIdx.x; i < n; i += 128) {
    tile[threadIdx.x] = in[i];
    __syncthreads();  // note barrier
    out[i] = tile[0];
  }
  out[threadIdx.x] = 1;
}

__global__ void half_of_a_warp_shuffles(float* out, const float* in) {
  float value = in[threadIdx.x];
  if (threadIdx.x < 16) value += __shfl_down_sync(0xffffffff, value, 8);  // FINDING lanes
  out[threadIdx.x] = value;
}

__global__ void lanes_within_a_bound_shuffle(float* out, const float* in, int n) {
  float value = in[threadIdx.x];
  if (blockIdx.x * 128 + threadIdx.x < n) {
    value += __shfl_xor_sync(0xffffffff, value, 1);  // FINDING lanes
  }
  out[threadIdx.x] = value;
}

__global__ void one_beyond(float* out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + 1];  // FINDING bounds
}

__global__ void one_before(float* out) {
  __shared__ float tile[128];
  tile[static_cast<int>(threadIdx.x) - 1] = 1;  // FINDING bounds
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void vectors_from_an_odd_place(float* out, const float* in) {
  const float4 four = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x + 1);  // FINDING alignment
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void vectors_of_every_float(float* out, const float* in) {
  const float4 four = *reinterpret_cast<const float4*>(in + threadIdx.x);  // FINDING alignment
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void every_second(float* out, const float* in) {
  out[threadIdx.x] = in[2 * threadIdx.x];  // note sectors 8/4
}

__global__ void columns(float* out, const float* in) {
  const int i = threadIdx.x;
  out[i * 256] = in[i];  // note sectors 32/4
}

__global__ void columns_of_any_matrix(float* out, const float* in, int n) {
  const int i = threadIdx.x;
  out[i * n] = in[i];  // note sectors 32/4
}

struct Point {
  float x, y, z;
};
__global__ void points(float* out, const Point* in) {
  const Point point = in[threadIdx.x];  // note sectors 12/4
  out[threadIdx.x] = point.x * point.y;
}

__global__ void a_loop_with_a_stride(float* out, const float* in, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 128) {
    sum += in[4 * i];  // note sectors 16/4
  }
  out[threadIdx.x] = sum;
}

__global__ void tile_by_columns(float* out, const float* in) {  // note occupancy 52/56
  __shared__ float tile[4][32][32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int row = 0; row < 32; ++row) tile[warp][row][lane] = in[threadIdx.x + row * 128];
  __syncthreads();
  for (int row = 0; row < 32; ++row) {
    out[threadIdx.x + row * 128] = tile[warp][lane][row];  // note banks 32/1
  }
}

__global__ void every_second_bank(float* out, const float* in) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  tile[threadIdx.x + 128] = 0;
  __syncthreads();
  out[threadIdx.x] = tile[2 * threadIdx.x];  // note banks 2/1
}

__global__ void array_of_each_thread(float* out, const float* in, const int* which) {
  float kept[16];
  for (int i = 0; i < 16; ++i) kept[i] = in[i] * threadIdx.x;
  out[threadIdx.x] = kept[which[threadIdx.x] & 15];  // note local-memory
}

__global__ void a_constant_without_f(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x] * 0.1;  // note float64
}

// --- right, and close to what is not -----------------------------------------------------------------------------

__global__ void leaves_early(float* out, const float* in, int n) {
  __shared__ float tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[threadIdx.x];
}

__global__ void barrier_for_some_blocks(float* out, const float* in, int n) {
  __shared__ float tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  if (blockIdx.x < n) {
    __syncthreads();
    tile[threadIdx.x] += 1;
  }
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void all_have_the_same_trips(float* out, const float* in) {
  __shared__ float tile[128];
  for (int i = threadIdx.x; i < 1024; i += 128) {
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[127 - threadIdx.x];
    __syncthreads();
  }
}

__global__ void all_read_the_same_flag(float* out, const int* flags, int n) {
  __shared__ float tile[128];
  tile[threadIdx.x] = 1;
  for (int i = 0; i < n; ++i) {
    if (flags[i] == 0) {
      __syncthreads();
      tile[127 - threadIdx.x] = i;
      __syncthreads();
    }
  }
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void a_barrier_on_both_ways(float* out, const float* in) {
  __shared__ float first;
  if (threadIdx.x < 32) {
    first = 1;
    __syncthreads();
    out[threadIdx.x] = first;
    return;
  }
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] + first;
}

__global__ void halves_of_a_block(float* out, const float* in) {
  __shared__ float tile[128];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  out[threadIdx.x] = tile[0];
}

__global__ void the_first_warp_shuffles(float* out, const float* in) {
  float value = in[threadIdx.x];
  if (threadIdx.x < 32) {
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffff, value, lane);
  }
  out[threadIdx.x] = value;
}

__global__ void a_mask_of_those_who_come(float* out, const float* in) {
  float value = in[threadIdx.x];
  if (threadIdx.x % 32 < 16) value += __shfl_xor_sync(0x0000ffff, value, 4);
  out[threadIdx.x] = value;
}

__global__ void a_mask_from_a_vote(float* out, const float* in) {
  float value = in[threadIdx.x];
  const unsigned those = __ballot_sync(0xffffffff, value > 0);
  if (value > 0) value += __shfl_xor_sync(those, value, 0);
  out[threadIdx.x] = value;
}

__global__ void every_thread_is_below(float* out, const float* in) {
  __shared__ float tile[128];
  if (threadIdx.x < 128) {
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
  }
}

__global__ void padded_tile(float* out, const float* in) {  // note occupancy 52/56
  __shared__ float tile[4][32][33];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int row = 0; row < 32; ++row) tile[warp][row][lane] = in[threadIdx.x + row * 128];
  __syncthreads();
  for (int row = 0; row < 32; ++row) out[threadIdx.x + row * 128] = tile[warp][lane][row];
}

__global__ void swizzled_tile(float* out, const float* in) {  // note occupancy 52/56
  __shared__ float tile[4][1024];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int row = 0; row < 32; ++row) tile[warp][row * 32 + (lane ^ row)] = in[threadIdx.x + row * 128];
  __syncthreads();
  for (int row = 0; row < 32; ++row) out[threadIdx.x + row * 128] = tile[warp][lane * 32 + (row ^ lane)];
}

__global__ void backwards(float* out, const float* in, int n) {
  out[n - static_cast<int>(threadIdx.x)] = in[127 - threadIdx.x];
}

__global__ void rows_of_any_matrix(float* out, const float* in, int n) {
  for (int row = blockIdx.x; row < n; row += gridDim.x) out[row * n + threadIdx.x] = in[row * n + threadIdx.x];
}

__global__ void aligned_vectors(float4* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = *reinterpret_cast<const float4*>(in + 4 * i);  // by clang: note sectors 16/8
}

__global__ void guarded_at_the_end(float* out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = threadIdx.x < 127 ? tile[threadIdx.x + 1] : 0;
}

__global__ void one_for_all(float* out, const float* in, int n) { out[threadIdx.x] = in[n] + in[blockIdx.x]; }

__global__ void from_anywhere(float* out, const float* in, const int* where) {
  out[threadIdx.x] = in[where[threadIdx.x]];
}

__global__ void kept_in_registers(float* out, const float* in) {
  float kept[4];
  for (int i = 0; i < 4; ++i) kept[i] = in[threadIdx.x + 128 * i];
  out[threadIdx.x] = kept[0] + kept[1] * kept[2] - kept[3];
}

__global__ void doubles_on_purpose(double* out, const float* in) {
  out[threadIdx.x] = static_cast<double>(in[threadIdx.x]) * 0.1;
}
