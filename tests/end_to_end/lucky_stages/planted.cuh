// Faults of which the result is right by luck, called as the functions of right.cuh are. What they read in no order is
// never the number that they compare it with.
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <utility>

namespace planted {

constexpr int kThreads = 128;

__device__ float source[kThreads];
__device__ float message;
__device__ int message_is_there;
__device__ float block_values[1024];
__device__ unsigned blocks_done;
__device__ float scalar;
__device__ float row[kThreads];

__device__ inline int here() { return static_cast<int>(threadIdx.x); }
__device__ inline float unless(float other, float value) { return other == 1e30F ? 0.0F : value; }

__device__ inline float filled_too_early(float value) {
  __shared__ float tile[kThreads];
#pragma unroll 1
  for (int step = 0; step < 3; ++step) {
    tile[here()] = value;
    __syncthreads();
    value = unless(tile[here() ^ 32], value);
  }
  return value;
}

__device__ inline float read_too_early(float value) {
  __shared__ float tile[kThreads];
  tile[here()] = value;
  return unless(tile[here() < 32 ? here() : here() - 32], value);
}

__device__ inline float lanes_that_never_meet(float value) {
  __shared__ float tile[kThreads];
  tile[here()] = value;
  return unless(tile[here() ^ 1], value);
}

__device__ inline float copies_that_nobody_waits_for(float value) {
  __shared__ alignas(16) float tile[kThreads];
  tile[here()] = 0.0F;
  __syncthreads();
  __pipeline_memcpy_async(&tile[here()], &source[here()], 4);
  __pipeline_commit();
  __syncthreads();
  value += tile[kThreads - 1 - here()];
  __pipeline_wait_prior(0);
  return value;
}

__device__ inline float one_copy_too_few(float value) {
  __shared__ alignas(16) float tiles[2][kThreads];
  tiles[1][here()] = 0.0F;
  __syncthreads();
  for (int step = 0; step < 2; ++step) {
    __pipeline_memcpy_async(&tiles[step][here()], &source[here()], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  value += tiles[0][kThreads - 1 - here()];
  value += tiles[1][kThreads - 1 - here()];
  __pipeline_wait_prior(0);
  return value;
}

__device__ inline float a_row_that_nobody_fills(float value) {
  __shared__ float tile[5][32];
  tile[here() / 32][here() % 32] = value;
  __syncthreads();
  return unless(tile[here() / 32 + 1][here() % 32], value);
}

__device__ inline float half_of_the_pairs(float value) {
  __shared__ float2 pairs[kThreads];
  pairs[here()].x = value;
  if (here() % 2 == 0) pairs[here()].y = value;
  __syncthreads();
  const float2 other = pairs[kThreads - 1 - here()];
  return unless(other.x, unless(other.y, value));
}

__device__ inline float half_a_barrier(float value) {
  __shared__ float tile[kThreads];
  tile[here()] = value;
  if (here() % 32 < 31) __syncthreads();
  return unless(tile[here() / 32 * 32], value);
}

__device__ inline float a_flag_without_a_fence(float value) {
  if (gridDim.x == 1) return unless(lanes_that_never_meet(value), value);
  if (blockIdx.x == 0 && here() == 0) {
    message = value;
    *static_cast<volatile int*>(&message_is_there) = 1;
  }
  if (blockIdx.x != gridDim.x - 1 || here() != 0) return value;
  while (*static_cast<volatile int*>(&message_is_there) == 0) {
  }
  value = unless(message, value);
  *static_cast<volatile int*>(&message_is_there) = 0;
  return value;
}

__device__ inline float the_last_block_without_a_fence(float value) {
  if (gridDim.x == 1) return unless(lanes_that_never_meet(value), value);
  if (here() != 0) return value;
  block_values[blockIdx.x % 1024] = value;
  if (atomicInc(&blocks_done, gridDim.x - 1) != gridDim.x - 1) return value;
  for (unsigned i = 0; i < gridDim.x && i < 1024; ++i) value = unless(block_values[i], value);
  return value;
}

__device__ inline float released_before_the_last_read(float value) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ float stage[96];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full;
  __shared__ Barrier empty;
  if (here() == 0) {
    init(&full, kThreads);
    init(&empty, kThreads);
  }
  __syncthreads();
#pragma unroll 1
  for (int tile = 0; tile < 4; ++tile) {
    if (here() < 32) {
      for (int e = here(); e < 96; e += 32) stage[e] = value;
      full.arrive_and_wait();
      empty.arrive_and_wait();
    } else {
      full.arrive_and_wait();
      auto token = empty.arrive();
      value = unless(stage[127 - here()], value);
      empty.wait(std::move(token));
    }
  }
  __syncthreads();
  return value;
}

__device__ inline float half_a_warp_meets(float value) {
  __shared__ float tile[kThreads];
  tile[here()] = value;
  if (here() % 32 >= 16) return value;
  __syncwarp(0xffffU);
  return unless(tile[here() + 16], value);
}

__device__ inline float one_store_too_far(float value) {
  __shared__ float tile[kThreads + 1];
  tile[here()] = value;
  if (here() % 32 == 31) tile[here() + 1] = 0.5F;
  __syncthreads();
  return unless(tile[here()], value);
}

__device__ inline float warps_that_change_a_number(float value) {
  if (here() % 32 == 0) scalar = static_cast<float>(blockIdx.x * 4 + here() / 32);
  return value;
}

__device__ inline float one_number_beyond(float value) { return unless(row[here() + 1], value); }

}  // namespace planted
