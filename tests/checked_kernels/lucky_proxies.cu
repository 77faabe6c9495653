// Kernels as those of lucky.cu, in which a fence between proxies is missing, or is where it orders nothing: copies in
// bulk, products of four warps and copies by tensor map may come before what threads have done.
#include <cuda/atomic>

#include "kernels.cuh"
#include "tensor_maps.cuh"

namespace {

constexpr int kThreads = 128;

__device__ alignas(128) float tile_of_blocks[4][kThreads];
__device__ unsigned flag_of_block[4];

}  // namespace

__global__ void a_copy_of_what_was_just_stored(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];  // <- racecheck
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void lanes_copy_different_tiles_to_one_place(const float* in, float* out, int n) {
  // No fence is missing here: two lanes begin copies of two tiles.
  __shared__ alignas(128) float tiles[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tiles[0][t] = in[t];
  tiles[1][t] = in[t] + 1.0F;
  fence_for_copies();
  __syncthreads();
  if (t >= 2) return;
  BULK_STORE(out + blockIdx.x * kThreads, tiles[t], sizeof tiles[0]);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void only_one_warp_fences(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];  // <- racecheck
  if (t < 32) fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void the_fence_is_before_the_stores(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  fence_for_copies();
  tile[t] = in[t];  // <- racecheck
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void the_fence_is_for_global_memory(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];  // <- racecheck
  asm volatile("fence.proxy.async.global;" ::: "memory");
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void a_fence_between_threads_is_none_between_proxies(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];  // <- racecheck
  __threadfence();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void the_thread_that_copies_fences_before_it_waits(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];  // <- racecheck
  if (t == 0) fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void another_warp_fences_after_the_barrier(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];  // <- racecheck
  __syncthreads();
  if (t == 32) fence_for_copies();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void a_late_round_stores_behind_the_fence(const float* in, float* out, int n) {
  // The fence is in the prologue; the loop stores again.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  fence_for_copies();
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    if (t == 0) {
      BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    tile[t] += 1.0F;  // <- racecheck
    __syncthreads();
  }
}

__global__ void a_thread_loads_over_what_it_reads(const float* in, float* out, int n) {
  // Its loads may still be under way when the copy begins.
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t != 0) return;
  barrier_init(&full, 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  float sum = 0.0F;
#pragma unroll 1
  for (int step = 0; step < 3; ++step) {
    barrier_expect(&full, static_cast<int>(sizeof tile));
    BULK_LOAD(tile, in + step * kThreads, sizeof tile, &full);  // <- racecheck
    barrier_wait(&full, step & 1);
    sum += tile[5];  // <- racecheck
  }
  out[blockIdx.x * kThreads] = sum;
}

__global__ void a_stage_is_released_without_a_fence(const float* in, float* out, int n) {
  __shared__ alignas(128) float stages[2][96];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long empty[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], 3);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int tile = 0; tile < 4; ++tile) {
    const int stage = tile % 2;
    if (t == 0) {
      barrier_wait(&empty[stage], (tile / 2 & 1) ^ 1);
      barrier_expect(&full[stage], static_cast<int>(sizeof stages[0]));
      BULK_LOAD(stages[stage], in + tile * 96, sizeof stages[0], &full[stage]);  // <- racecheck
    } else if (t >= 32) {
      barrier_wait(&full[stage], tile / 2 & 1);
      sum += stages[stage][t - 32];  // <- racecheck
      __syncwarp();
      if (t % 32 == 0) barrier_arrive(&empty[stage]);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void zeros_lie_where_a_copy_lands(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  tile[t] = 0.0F;  // <- racecheck
  __syncthreads();
  if (t == 0) {
    barrier_expect(&full, 256);
    BULK_LOAD(tile, in, 256, &full);  // <- racecheck
  }
  barrier_wait(&full, 0);
  out[index_of_thread()] = tile[127 - t];
}

__global__ void factors_without_a_fence(const float* in, float* out, int n) {
  __shared__ alignas(128) unsigned left[64 * 16 / 2];
  __shared__ alignas(128) unsigned right[16 * 8 / 2];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 64 * 16 / 2; i += kThreads) left[i] = 0x3c003c00U;  // <- racecheck
  if (t < 64) right[t] = 0x3c003c00U;                                     // <- racecheck
  __syncthreads();
  float sums[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  PRODUCT(sums, left, right);  // <- racecheck
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  out[index_of_thread()] = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void a_factor_is_changed_for_the_next_product(const float* in, float* out, int n) {
  __shared__ alignas(128) unsigned left[64 * 16 / 2];
  __shared__ alignas(128) unsigned right[16 * 8 / 2];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 64 * 16 / 2; i += kThreads) left[i] = 0x3c003c00U;
  if (t < 64) right[t] = 0x3c003c00U;
  fence_for_copies();
  __syncthreads();
  float sums[4] = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll 1
  for (int step = 0; step < 2; ++step) {
    PRODUCT(sums, left, right);  // <- racecheck
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
    if (t < 64) right[t] = 0x40004000U;  // <- racecheck
    __syncthreads();
  }
  out[index_of_thread()] = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void a_flag_is_seen_and_a_copy_is_not_fenced(const float* in, float* out, int n) {
  // Block 1 loads in bulk what block 0 has written and released: it may see what was there before.
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flag_of_block[0]);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    tile_of_blocks[0][t] = in[t];  // <- racecheck
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      barrier_init(&full, 1);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
      barrier_expect(&full, static_cast<int>(sizeof tile));
      BULK_LOAD(tile, tile_of_blocks[0], sizeof tile, &full);  // <- racecheck
    }
    __syncthreads();
    barrier_wait(&full, 0);
    out[index_of_thread()] = tile[t];
  }
}

__global__ void a_block_loads_its_own_results_again(const float* in, float* out, int n) {
  // The fence is for shared memory; what is loaded lies in global memory.
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  tile_of_blocks[blockIdx.x][t] = in[t] + 1.0F;  // <- racecheck
  fence_for_copies();
  __syncthreads();
  if (t == 0) {
    barrier_expect(&full, static_cast<int>(sizeof tile));
    BULK_LOAD(tile, tile_of_blocks[blockIdx.x], sizeof tile, &full);  // <- racecheck
  }
  barrier_wait(&full, 0);
  out[index_of_thread()] = tile[127 - t];
}

__global__ void a_store_in_bulk_over_a_plain_one(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;  // <- racecheck
  tile[t] = in[t];
  fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void only_the_source_has_been_waited_for(const float* in, float* out, int n) {
  // No fence is missing here: the wait is for the source alone, and the copy's result is read.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  tile[0] = out[blockIdx.x * kThreads + 3];  // <- racecheck initcheck
  out[blockIdx.x * kThreads] = tile[0];      // <- racecheck
}

__global__ void __cluster_dims__(2) a_neighbour_stores_and_a_copy_follows(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  REMOTE_STORE(&tile[t], cluster_rank() ^ 1U, in[t]);  // <- racecheck
  cluster_sync();
  if (t == 0) {
    BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- racecheck
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  cluster_sync();
}

__global__ void a_map_is_used_and_not_acquired(const float* in, float* out, int n) {
  __shared__ alignas(128) TensorMap map;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) barrier_init(&full, 1);
  if (t < 32) {
    make_row_map(&map, in, kThreads);
    COPY_MAP(&maps[blockIdx.x], &map);  // <- racecheck
  }
  __syncthreads();
  if (t == 0) {
    barrier_expect(&full, static_cast<int>(sizeof tile));
    LOAD_ROW(tile, &maps[blockIdx.x], &full);  // <- racecheck
  }
  barrier_wait(&full, 0);
  out[index_of_thread()] = tile[t];
}

__global__ void another_map_is_acquired(const float* in, float* out, int n) {
  __shared__ alignas(128) TensorMap map;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) barrier_init(&full, 1);
  if (t < 32) {
    make_row_map(&map, in, kThreads);
    COPY_MAP(&maps[blockIdx.x], &map);  // <- racecheck
  }
  __syncthreads();
  if (t == 0) {
    acquire_map(&maps[blockIdx.x + 4]);
    barrier_expect(&full, static_cast<int>(sizeof tile));
    LOAD_ROW(tile, &maps[blockIdx.x], &full);  // <- racecheck
  }
  barrier_wait(&full, 0);
  out[index_of_thread()] = tile[t];
}

__global__ void a_map_is_changed_after_it_was_acquired(const float* in, float* out, int n) {
  // Right for the first tile; the second round's map is copied and not acquired again.
  __shared__ alignas(128) TensorMap map;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) barrier_init(&full, 1);
  float sum = 0.0F;
#pragma unroll 1
  for (int round = 0; round < 2; ++round) {
    if (t < 32) {
      make_row_map(&map, in + round * kThreads, kThreads);
      COPY_MAP(&maps[blockIdx.x], &map);  // <- racecheck
      if (round == 0) acquire_map(&maps[blockIdx.x]);
    }
    fence_for_copies();
    __syncthreads();
    if (t == 0) {
      barrier_expect(&full, static_cast<int>(sizeof tile));
      LOAD_ROW(tile, &maps[blockIdx.x], &full);  // <- racecheck
    }
    barrier_wait(&full, round);
    sum += tile[t];
  }
  out[index_of_thread()] = sum;
}

__global__ void a_map_is_stored_and_not_released(const float* in, float* out, int n) {
  // Plain stores of the map's words, and an acquire alone.
  __shared__ alignas(128) TensorMap map;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) barrier_init(&full, 1);
  if (t < 32) {
    make_row_map(&map, in, kThreads);
    __syncwarp();
    maps[blockIdx.x].words[t] = map.words[t];  // <- racecheck
  }
  __syncthreads();
  if (t == 0) {
    acquire_map(&maps[blockIdx.x]);
    barrier_expect(&full, static_cast<int>(sizeof tile));
    LOAD_ROW(tile, &maps[blockIdx.x], &full);  // <- racecheck
  }
  barrier_wait(&full, 0);
  out[index_of_thread()] = tile[t];
}
