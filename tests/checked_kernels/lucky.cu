// Kernels with a fault that does not show: what they compute is right on a good day. Marked as in
// seeded_kernels/memcheck.cu and launched as right.cu is. Of a race both lines are marked: either may be named as the
// later one, and the other one has to be in the message.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>

#include "kernels.cuh"

namespace {

constexpr int kThreads = 128;

/// Of a factor of 8 columns or more that begins at a multiple of 16 bytes, unswizzled.
__device__ unsigned long long descriptor(const void* at) {
  return static_cast<unsigned long long>((shared_address(at) & 0x3ffffU) >> 4) | 8ULL << 16 | 16ULL << 32;
}

__device__ float message;
__device__ int message_is_there;
__device__ float partial_sums[4];
__device__ unsigned finished;
__device__ float scalar;
__device__ float exchanged[512];
__device__ unsigned tickets;
__device__ unsigned now_served;
__device__ float guarded;

}  // namespace

__global__ void a_tile_is_filled_too_early(const float* in, float* out, int n) {
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  float sum = 0.0F;
#pragma unroll 1
  for (int first = 0; first < n; first += kThreads) {
    tile[t] = in[first + t];  // <- racecheck
    __syncthreads();
    sum += tile[t ^ 32];  // <- racecheck
  }
  out[index_of_thread()] = sum;
}

__global__ void a_tile_is_read_too_early(const float* in, float* out, int n) {
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];                                     // <- racecheck
  out[index_of_thread()] = tile[t < 32 ? t : t - 32];  // <- racecheck
}

__global__ void warps_meet_nowhere(const float* in, float* out, int n) {
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[index_of_thread()];
  __syncwarp();
#pragma unroll 1
  for (int half = 16; half > 0; half /= 2) {
    if (t % 32 < half) values[t] += values[t + half];  // <- racecheck
  }
  __syncwarp();
  out[index_of_thread()] = values[t / 32 * 32];
}

__global__ void copies_that_nobody_waits_for(const float* in, float* out, int n) {
  __shared__ alignas(16) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = 0.0F;
  __syncthreads();
  __pipeline_memcpy_async(&tile[t], &in[t], 4);  // <- racecheck
  __pipeline_commit();
  __syncthreads();
  out[index_of_thread()] = tile[127 - t];  // <- racecheck
  __pipeline_wait_prior(0);
}

__global__ void waits_for_one_copy_too_few(const float* in, float* out, int n) {
  __shared__ alignas(16) float tiles[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tiles[0][t] = tiles[1][t] = 0.0F;
  __syncthreads();
  __pipeline_memcpy_async(&tiles[0][t], &in[t], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&tiles[1][t], &in[t], 4);  // <- racecheck
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float sum = tiles[0][127 - t];
  sum += tiles[1][127 - t];  // <- racecheck
  out[index_of_thread()] = sum;
  __pipeline_wait_prior(0);
}

__global__ void a_row_beyond_the_tile(const float* in, float* out, int n) {
  // The array has room for a fifth row, which nobody loads.
  __shared__ float tile[5][32];
  const int row = static_cast<int>(threadIdx.x / 32);
  const int column = static_cast<int>(threadIdx.x % 32);
  tile[row][column] = in[index_of_thread()];
  __syncthreads();
  out[index_of_thread()] = tile[row][column] + 0.0F * tile[row + 1][column];  // <- initcheck
}

__global__ void padding_times_zero(const float* in, float* out, int n) {
  __shared__ float rows[4][33];
  const int row = static_cast<int>(threadIdx.x / 32);
  const int column = static_cast<int>(threadIdx.x % 32);
  rows[row][column] = in[index_of_thread()];
  __syncthreads();
  const float weight = column == 31 ? 0.0F : 1.0F;
  out[index_of_thread()] = rows[row][column] + weight * rows[row][column + 1];  // <- initcheck
}

__global__ void half_a_barrier(const float* in, float* out, int n) {
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];  // <- racecheck
  if (t % 32 < 31) {
    __syncthreads();  // <- synccheck
  }
  out[index_of_thread()] = tile[127 - t];  // <- racecheck initcheck
}

__global__ void a_flag_without_a_fence(const float* in, float* out, int n) {
  const int i = index_of_thread();
  out[i] = in[i];
  if (i == 0) {
    message = in[5];  // <- racecheck
    *static_cast<volatile int*>(&message_is_there) = 1;
  }
  if (i != 256) return;
  while (*static_cast<volatile int*>(&message_is_there) == 0) {
  }
  out[i] = message;  // <- racecheck
}

__global__ void the_last_block_without_a_fence(const float* in, float* out, int n) {
  out[index_of_thread()] = 0.0F;
  if (threadIdx.x != 0) return;
  partial_sums[blockIdx.x] = in[index_of_thread()];  // <- racecheck
  if (atomicAdd(&finished, 1U) != gridDim.x - 1) return;
  float sum = 0.0F;
#pragma unroll 1
  for (unsigned i = 0; i < gridDim.x; ++i) {
    sum += partial_sums[i];  // <- racecheck
  }
  out[index_of_thread()] = sum;
}

__global__ void a_stage_is_released_before_the_last_read(const float* in, float* out, int n) {
  __shared__ float stage[96];
  __shared__ unsigned long long full;
  __shared__ unsigned long long empty;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 32);
    barrier_init(&empty, 96);
  }
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int tile = 0; tile < 4; ++tile) {
    if (t < 32) {
      barrier_wait(&empty, (tile & 1) ^ 1);
#pragma unroll 1
      for (int i = t; i < 96; i += 32) {
        stage[i] = in[tile * 96 + i];  // <- racecheck
      }
      barrier_arrive(&full);
    } else {
      barrier_wait(&full, tile & 1);
      barrier_arrive(&empty);
      sum += stage[127 - t];  // <- racecheck
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void one_warp_releases_for_all(const float* in, float* out, int n) {
  // The barrier of the consumers is missing: the thread speaks for warps that have not read yet.
  __shared__ float stage[96];
  __shared__ unsigned long long full;
  __shared__ unsigned long long empty;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 32);
    barrier_init(&empty, 1);
  }
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int tile = 0; tile < 4; ++tile) {
    if (t < 32) {
      barrier_wait(&empty, (tile & 1) ^ 1);
#pragma unroll 1
      for (int i = t; i < 96; i += 32) {
        stage[i] = in[tile * 96 + i];  // <- racecheck
      }
      barrier_arrive(&full);
    } else {
      barrier_wait(&full, tile & 1);
      sum += stage[127 - t];  // <- racecheck
      __syncwarp();
      if (t == 127) barrier_arrive(&empty);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void a_lane_releases_for_lanes_that_still_read(const float* in, float* out, int n) {
  // The warp's barrier before the arrival is missing.
  __shared__ float stage[96];
  __shared__ unsigned long long full;
  __shared__ unsigned long long empty;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 32);
    barrier_init(&empty, 3);
  }
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int tile = 0; tile < 4; ++tile) {
    if (t < 32) {
      barrier_wait(&empty, (tile & 1) ^ 1);
#pragma unroll 1
      for (int i = t; i < 96; i += 32) {
        stage[i] = in[tile * 96 + i];  // <- racecheck
      }
      barrier_arrive(&full);
    } else {
      barrier_wait(&full, tile & 1);
      sum += stage[127 - t];  // <- racecheck
      if (t % 32 == 0) barrier_arrive(&empty);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void only_half_a_warp_meets(const float* in, float* out, int n) {
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[index_of_thread()];  // <- racecheck
  if (t % 32 < 16) {
    __syncwarp(0xffffU);
    out[index_of_thread()] = values[t + 16];  // <- racecheck
  }
}

__global__ void factors_change_before_the_wait(const float* in, float* out, int n) {
  __shared__ alignas(128) unsigned left[64 * 16 / 2];
  __shared__ alignas(128) unsigned right[16 * 8 / 2];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 64 * 16 / 2; i += kThreads) left[i] = 0x3c003c00U;
  if (t < 64) right[t] = 0x3c003c00U;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float sums[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "l"(descriptor(left)), "l"(descriptor(right)));  // <- racecheck
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  __syncthreads();
  if (t < 64) right[t] = 0x40004000U;  // <- racecheck
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  out[index_of_thread()] = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void one_store_too_far(const float* in, float* out, int n) {
  // Each warp clears one element behind its row: the next row's first, or, for the last row, slack of the array.
  __shared__ float rows[4 * 32 + 1];
  const int t = static_cast<int>(threadIdx.x);
  rows[t] = in[t];                       // <- racecheck
  if (t % 32 == 31) rows[t + 1] = 0.5F;  // <- racecheck
  __syncthreads();
  out[index_of_thread()] = rows[127 - t];
}

__global__ void blocks_change_a_number(const float* in, float* out, int n) {
  // Each block stores another value, and the host gets one of them.
  out[index_of_thread()] = in[index_of_thread()];
  if (threadIdx.x == 0) scalar = static_cast<float>(blockIdx.x);  // <- racecheck
}

__global__ void a_late_value_matters(const float* in, float* out, int n) {
  // Warps that come late read the sum instead of the number.
  const int t = static_cast<int>(threadIdx.x);
  if (blockIdx.x != 0) return;
  const float old = *static_cast<volatile float*>(&out[0]);  // <- note racecheck
  if (t == 0) out[0] = old + 1.0F;                           // <- note racecheck
  if (t > 0) out[t] = old;
}

__global__ void every_second_pair_is_complete(const float* in, float* out, int n) {
  __shared__ float2 pairs[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  pairs[t].x = in[t];
  if (t % 2 == 0) pairs[t].y = in[t];
  __syncthreads();
  if (blockIdx.x == 0) reinterpret_cast<float2*>(out)[t] = pairs[127 - t];  // <- initcheck
}

__global__ void the_last_block_before_its_own_warps(const float* in, float* out, int n) {
  // The barrier of the block is missing: its first thread speaks for warps that have not written yet.
  __shared__ bool is_last;
  const int t = static_cast<int>(threadIdx.x);
  exchanged[index_of_thread()] = in[index_of_thread()];  // <- racecheck
  out[index_of_thread()] = 0.0F;
  if (t == 0) {
    __threadfence();
    is_last = atomicAdd(&finished, 1U) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  float sum = 0.0F;
#pragma unroll 1
  for (int block = 0; block < 4; ++block) {
    sum += exchanged[block * kThreads + (t ^ 127)];  // <- racecheck
  }
  out[index_of_thread()] = sum;
}

__global__ void a_copy_comes_over_what_is_read(const float* in, float* out, int n) {
  // The second barrier of the loop is missing: the copy may write as soon as it has begun.
  __shared__ alignas(16) float tiles[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&tiles[0][t], &in[t], 4);
  __pipeline_commit();
  float sum = 0.0F;
#pragma unroll 1
  for (int tile = 0; tile < 4; ++tile) {
    if (tile < 3) {
      __pipeline_memcpy_async(&tiles[(tile + 1) % 2][t], &in[(tile + 1) * kThreads + t], 4);  // <- racecheck
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tiles[tile % 2][127 - t];  // <- racecheck
  }
  out[index_of_thread()] = sum;
}

__global__ void one_warp_copies_over_what_others_read(const float* in, float* out, int n) {
  // Who copies is always ahead of those that read.
  __shared__ alignas(16) float tile[2][32];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 32) __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
  __pipeline_commit();
  float sum = 0.0F;
#pragma unroll 1
  for (int step = 0; step < 4; ++step) {
    if (t < 32 && step < 3) {
      __pipeline_memcpy_async(&tile[(step + 1) % 2][t], &in[(step + 1) * 32 + t], 4);  // <- racecheck
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    if (t >= 32) sum += tile[step % 2][t % 32];  // <- racecheck
  }
  out[index_of_thread()] = sum;
}

__global__ void grid_without_its_second_meeting(const float* in, float* out, int n) {
  const int i = index_of_thread();
  exchanged[i] = in[i];
  cooperative_groups::this_grid().sync();
  const float other = exchanged[511 - i];  // <- racecheck
  exchanged[i] = other + 1.0F;             // <- racecheck
  out[i] = 0.0F;
}

__global__ void a_lock_that_orders_nothing(const float* in, float* out, int n) {
  const int i = index_of_thread();
  out[i] = in[i];
  if (threadIdx.x % 32 != 0) return;
  const unsigned ticket = atomicAdd(&tickets, 1U);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> served(now_served);
  while (served.load(cuda::memory_order_relaxed) != ticket) {
  }
  guarded += in[i];  // <- racecheck
  served.store(ticket + 1, cuda::memory_order_relaxed);
}

__global__ void a_bulk_store_is_still_reading(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * kThreads),
                 "r"(shared_address(tile)), "r"(static_cast<int>(sizeof tile))  // <- racecheck
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  __syncthreads();
  tile[t] = 0.0F;  // <- racecheck
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

struct Padded {
  char kind;
  double value;
  float weight;
};

__global__ void a_copied_member_was_never_written(const float* in, float* out, int n) {
  __shared__ Padded records[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  records[t].value = in[t];
  records[t].weight = 2.0F;
  __syncthreads();
  const Padded other = records[127 - t];  // <- note initcheck
  __syncthreads();
  records[t] = other;
  __syncthreads();
  out[index_of_thread()] = records[t].kind == 'a' ? static_cast<float>(records[t].value) : 0.0F;  // <- initcheck
}
