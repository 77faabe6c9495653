// Right kernels, as those of right.cu, in which threads and copies in bulk, products of four warps or copies by tensor
// map work on the same memory in turns.
#include <cuda/atomic>

#include "tensor_maps.cuh"

namespace {

constexpr int kThreads = 128;

__device__ alignas(128) float tile_of_blocks[4][kThreads];
__device__ alignas(128) float tile_of_next[4][kThreads];
__device__ unsigned flag_of_block[4];
__device__ unsigned round_of_block[4];
__device__ unsigned flag_of_map;
__device__ alignas(128) float sums[kThreads];
__device__ alignas(128) float rows[4][6][96];

__device__ void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

}  // namespace

__global__ void each_writer_fences(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);
  wait_for_stores();
}

__global__ void a_whole_warp_copies_the_same(const float* in, float* out, int n) {
  // Nobody is elected: 32 lanes begin one and the same copy, as in the epilogues of CUTLASS.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  fence_for_copies();
  __syncthreads();
  if (t >= 32) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);
  if (t == 7) wait_for_stores();
  __syncwarp();
  tile[t] = out[blockIdx.x * kThreads + 31 - t];
}

__global__ void the_thread_that_copies_fences(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  __syncthreads();
  if (t != 0) return;
  asm volatile("fence.proxy.async;" ::: "memory");
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);
  wait_for_stores();
}

__global__ void a_lane_fences_for_its_warp(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  __syncwarp();
  if (t % 32 == 0) fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);
  wait_for_stores();
}

__global__ void each_warp_copies_its_own_part(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  fence_for_copies();
  __syncwarp();
  if (t % 32 != 5) return;
  const int first = t / 32 * 32;
  BULK_STORE(out + blockIdx.x * kThreads + first, &tile[first], 128);
  wait_for_stores();
}

__global__ void one_fence_in_a_middle_warp(const float* in, float* out, int n) {
  // The fence is on the way: behind one barrier, and before the next.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  __syncthreads();
  if (t == 64) fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);
  wait_for_stores();
}

__global__ void what_a_copy_brought_needs_no_fence(const float* in, float* out, int n) {
  // Loaded in bulk, read by threads, and stored in bulk: nobody writes but copies, and reads do not meet reads.
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    barrier_expect(&full, static_cast<int>(sizeof tile));
    BULK_LOAD(tile, in, sizeof tile, &full);
  }
  __syncthreads();
  barrier_wait(&full, 0);
  const float value = tile[127 - t];
  if (t == 0) {
    BULK_STORE(tile_of_blocks[blockIdx.x], tile, sizeof tile);
    wait_for_stores();
  }
  out[index_of_thread()] = value;
}

__global__ void a_result_is_read_after_its_wait(const float* in, float* out, int n) {
  // Waiting for the copy includes the fence.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  fence_for_copies();
  __syncthreads();
  if (t == 0) {
    BULK_STORE(tile_of_blocks[blockIdx.x], tile, sizeof tile);
    wait_for_stores();
  }
  __syncthreads();
  out[index_of_thread()] = tile_of_blocks[blockIdx.x][127 - t];
}

__global__ void many_rounds_and_a_fence_in_each(const float* in, float* out, int n) {
  __shared__ alignas(128) float tiles[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
#pragma unroll 1
  for (int round = 0; round < 100; ++round) {
    if (t == 0) asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");
    __syncthreads();
    tiles[round % 2][t] = in[t] + static_cast<float>(round);
    fence_for_copies();
    __syncthreads();
    if (t == 0) {
      BULK_STORE(round % 2 == 0 ? out + blockIdx.x * kThreads : tile_of_blocks[blockIdx.x], tiles[round % 2],
                 sizeof tiles[0]);
    }
  }
  if (t == 0) wait_for_stores();
}

__global__ void a_producer_fences_and_arrives(const float* in, float* out, int n) {
  // Warps 1 to 3 fill tiles, warp 0 stores them in bulk: full and empty mbarriers.
  __shared__ alignas(128) float tiles[2][96];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long empty[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      barrier_init(&full[s], 3);
      barrier_init(&empty[s], 1);
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < 6; ++round) {
    const int stage = round % 2;
    if (t >= 32) {
      barrier_wait(&empty[stage], (round / 2 & 1) ^ 1);
      tiles[stage][t - 32] = in[t] + static_cast<float>(round);
      fence_for_copies();
      __syncwarp();
      if (t % 32 == 0) barrier_arrive(&full[stage]);
    } else if (t == 0) {
      barrier_wait(&full[stage], round / 2 & 1);
      BULK_STORE(rows[blockIdx.x][round], tiles[stage], sizeof tiles[0]);
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      barrier_arrive(&empty[stage]);
    }
  }
  if (t == 0) wait_for_stores();
  __syncthreads();
  out[index_of_thread()] = rows[blockIdx.x][5][t % 96];
}

__global__ void a_reader_fences_before_it_releases(const float* in, float* out, int n) {
  __shared__ alignas(128) float stages[2][96];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long empty[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], 96);
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
      BULK_LOAD(stages[stage], in + tile * 96, sizeof stages[0], &full[stage]);
    } else if (t >= 32) {
      barrier_wait(&full[stage], tile / 2 & 1);
      sum += stages[stage][t - 32];
      fence_for_copies();
      barrier_arrive(&empty[stage]);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void the_loader_fences_when_a_stage_is_free(const float* in, float* out, int n) {
  __shared__ alignas(128) float stage[96];
  __shared__ unsigned long long full;
  __shared__ unsigned long long empty;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    barrier_init(&empty, 96);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int tile = 0; tile < 4; ++tile) {
    if (t == 0) {
      barrier_wait(&empty, (tile & 1) ^ 1);
      fence_for_copies();
      barrier_expect(&full, static_cast<int>(sizeof stage));
      BULK_LOAD(stage, in + tile * 96, sizeof stage, &full);
    } else if (t >= 32) {
      barrier_wait(&full, tile & 1);
      sum += stage[t - 32];
      barrier_arrive(&empty);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void products_and_copies_take_turns(const float* in, float* out, int n) {
  // Loaded in bulk, multiplied, loaded again: all of it by the asynchronous proxy.
  __shared__ alignas(128) unsigned left[64 * 16 / 2];
  __shared__ alignas(128) unsigned right[16 * 8 / 2];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float products[4] = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll 1
  for (int step = 0; step < 3; ++step) {
    if (t == 0) {
      barrier_expect(&full, static_cast<int>(sizeof left + sizeof right));
      BULK_LOAD(left, in, sizeof left, &full);
      BULK_LOAD(right, in, sizeof right, &full);
    }
    barrier_wait(&full, step & 1);
    PRODUCT(products, left, right);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  out[index_of_thread()] = products[0] + products[1] + products[2] + products[3];
}

__global__ void a_factor_is_stored_fenced_and_used(const float* in, float* out, int n) {
  __shared__ alignas(128) unsigned left[64 * 16 / 2];
  __shared__ alignas(128) unsigned right[16 * 8 / 2];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 64 * 16 / 2; i += kThreads) left[i] = 0x3c003c00U;
  if (t < 64) right[t] = 0x3c003c00U;
  __syncthreads();
  fence_for_copies();
  float products[4] = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll 1
  for (int step = 0; step < 2; ++step) {
    PRODUCT(products, left, right);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
    if (t < 64) right[t] = 0x40004000U;
    fence_for_copies();
    __syncthreads();
  }
  out[index_of_thread()] = products[0] + products[1] + products[2] + products[3];
}

__global__ void a_flag_is_seen_and_the_copy_is_fenced(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flag_of_block[0]);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    tile_of_blocks[0][t] = in[t];
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      barrier_init(&full, 1);
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
      asm volatile("fence.proxy.async;" ::: "memory");
      barrier_expect(&full, static_cast<int>(sizeof tile));
      BULK_LOAD(tile, tile_of_blocks[0], sizeof tile, &full);
    }
    __syncthreads();
    barrier_wait(&full, 0);
    out[index_of_thread()] = tile[t];
  }
}

__global__ void writers_fence_before_the_flag(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flag_of_block[1]);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    tile_of_next[0][t] = in[t];
    asm volatile("fence.proxy.async.global;" ::: "memory");
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      barrier_init(&full, 1);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
      barrier_expect(&full, static_cast<int>(sizeof tile));
      BULK_LOAD(tile, tile_of_next[0], sizeof tile, &full);
    }
    __syncthreads();
    barrier_wait(&full, 0);
    out[index_of_thread()] = tile[t];
  }
}

__global__ void blocks_hand_tiles_on_in_rounds(const float* in, float* out, int n) {
  // A flag that counts rounds: block 0 writes, block 1 loads in bulk, and says that it has.
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> written(round_of_block[0]);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> taken(round_of_block[1]);
  float sum = 0.0F;
  if (blockIdx.x < 2 && t == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
#pragma unroll 1
  for (unsigned round = 0; round < 3 && blockIdx.x < 2; ++round) {
    if (blockIdx.x == 0) {
      if (t == 0) {
        while (taken.load(cuda::memory_order_acquire) < round) {
        }
      }
      __syncthreads();
      tile_of_blocks[1][t] = in[t] + static_cast<float>(round);
      __syncthreads();
      if (t == 0) written.store(round + 1, cuda::memory_order_release);
    } else {
      if (t == 0) {
        while (written.load(cuda::memory_order_acquire) < round + 1) {
        }
        asm volatile("fence.proxy.async;" ::: "memory");
        barrier_expect(&full, static_cast<int>(sizeof tile));
        BULK_LOAD(tile, tile_of_blocks[1], sizeof tile, &full);
      }
      __syncthreads();
      barrier_wait(&full, static_cast<int>(round & 1));
      sum += tile[t];
      fence_for_copies();
      __syncthreads();
      if (t == 0) taken.store(round + 1, cuda::memory_order_release);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void sums_in_bulk_and_by_threads(const float* in, float* out, int n) {
  // Sums are atomic, whichever proxy makes them.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[t];
  fence_for_copies();
  atomicAdd(&sums[t], 1.0F);
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sums),
                 "r"(shared_address(tile)), "r"(static_cast<int>(sizeof tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    wait_for_stores();
  }
  __syncthreads();
  out[index_of_thread()] = in[t];
}

__global__ void __cluster_dims__(2) a_neighbour_stores_and_fences(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  REMOTE_STORE(&tile[t], cluster_rank() ^ 1U, in[t]);
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
  cluster_sync();
  if (t == 0) {
    BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);
    wait_for_stores();
  }
  cluster_sync();
}

__global__ void __cluster_dims__(2) a_neighbour_stores_and_the_owner_fences(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  REMOTE_STORE(&tile[t], cluster_rank() ^ 1U, in[t]);
  cluster_sync();
  if (t == 0) {
    fence_for_copies();
    BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);
    wait_for_stores();
  }
  cluster_sync();
}

__global__ void a_map_is_copied_and_acquired(const float* in, float* out, int n) {
  // As in a grouped product: the map of a round is made in shared memory, copied and acquired by one warp.
  __shared__ alignas(128) TensorMap map;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) barrier_init(&full, 1);
  __syncthreads();
  float sum = 0.0F;
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    if (t < 32) {
      make_row_map(&map, in + round * kThreads, kThreads);
      COPY_MAP(&maps[blockIdx.x], &map);
      acquire_map(&maps[blockIdx.x]);
    }
    if (t == 0) {
      barrier_expect(&full, static_cast<int>(sizeof tile));
      LOAD_ROW(tile, &maps[blockIdx.x], &full);
    }
    barrier_wait(&full, round & 1);
    sum += tile[t];
    fence_for_copies();
    __syncthreads();
  }
  out[index_of_thread()] = sum;
}

__global__ void a_map_is_stored_released_and_acquired(const float* in, float* out, int n) {
  // By plain stores of a warp, for the thread of another one.
  __shared__ alignas(128) TensorMap map;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 32) barrier_init(&full, 1);
  if (t < 32) {
    make_row_map(&map, in, kThreads);
    maps[blockIdx.x].words[t] = map.words[t];
    release_maps();
  }
  __syncthreads();
  if (t == 32) {
    acquire_map(&maps[blockIdx.x]);
    barrier_expect(&full, static_cast<int>(sizeof tile));
    LOAD_ROW(tile, &maps[blockIdx.x], &full);
  }
  barrier_wait(&full, 0);
  out[index_of_thread()] = tile[t];
}

__global__ void a_map_is_made_by_another_block(const float* in, float* out, int n) {
  __shared__ alignas(128) TensorMap map;
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const int t = static_cast<int>(threadIdx.x);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flag_of_map);
  if (t == 0) barrier_init(&full, 1);
  __syncthreads();
  if (blockIdx.x == 0) {
    if (t < 32) {
      make_row_map(&map, in, kThreads);
      COPY_MAP(&maps[7], &map);
      __syncwarp();
      if (t == 0) flag.store(1, cuda::memory_order_release);
    }
    out[index_of_thread()] = 0.0F;
    return;
  }
  if (t == 0) {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    acquire_map(&maps[7]);
    barrier_expect(&full, static_cast<int>(sizeof tile));
    LOAD_ROW(tile, &maps[7], &full);
  }
  barrier_wait(&full, 0);
  out[index_of_thread()] = tile[t];
}

__global__ void a_tile_is_changed_in_its_place(const float* in, float* out, int n) {
  // Threads read global memory, which a copy overwrites when all have: a load that is over sees nothing of it.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = in[t];
  asm volatile("fence.proxy.async.global;" ::: "memory");
  __syncthreads();
  tile[t] = out[blockIdx.x * kThreads + (t ^ 1)] + 1.0F;
  fence_for_copies();
  __syncthreads();
  if (t != 0) return;
  BULK_STORE(out + blockIdx.x * kThreads, tile, sizeof tile);  // <- note
  wait_for_stores();
}
