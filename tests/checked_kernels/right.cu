// Kernels that are right, each in a way that a checker could take for a fault; more are in the files right_*.cu.
// Launched as in seeded_kernels/memcheck.cu with 4 blocks of 128 threads; nothing but the marked notes may be found.
// Kernels called grid_… are launched cooperatively. `out` is not written before; variables of the file begin as zero.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "kernels.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;
constexpr int kStages = 2;
constexpr int kTiles = 4;

template <int kName, int kCount>
__device__ void named_sync() {
  asm volatile("bar.sync %0, %1;" ::"n"(kName), "n"(kCount) : "memory");
}
template <int kName, int kCount>
__device__ void named_arrive() {
  asm volatile("bar.arrive %0, %1;" ::"n"(kName), "n"(kCount) : "memory");
}
__device__ void bulk_load(void* to, const void* from, int bytes, unsigned long long* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

/// Multiplies the 64 x 16 halves of `left` with the 16 x 8 of `right`; all begin at multiples of 16 bytes, unswizzled.
__device__ void begin_product(float (&sums)[4], const void* left, const void* right) {
  const auto descriptor = [](const void* at) {
    return static_cast<unsigned long long>((shared_address(at) & 0x3ffffU) >> 4) | 8ULL << 16 | 16ULL << 32;
  };
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "l"(descriptor(left)), "l"(descriptor(right)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// A ring of stages between a warp that fills them and three that read them.
struct Ring {
  float data[kStages][96];
  unsigned long long full[kStages];
  unsigned long long empty[kStages];
};

enum class Release { every_thread, lane_of_each_warp, thread_of_all };

template <Release kRelease>
__device__ void through_ring(const float* in, float* out) {
  __shared__ Ring ring;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    const int releases = kRelease == Release::every_thread ? 96 : kRelease == Release::thread_of_all ? 1 : 3;
    for (int s = 0; s < kStages; ++s) {
      barrier_init(&ring.full[s], 32);
      barrier_init(&ring.empty[s], releases);
    }
  }
  __syncthreads();
  if (t < 32) {
    for (int tile = 0; tile < kTiles; ++tile) {
      const int stage = tile % kStages;
      barrier_wait(&ring.empty[stage], (tile / kStages & 1) ^ 1);
      for (int i = t; i < 96; i += 32) ring.data[stage][i] = in[tile * 96 + i];
      barrier_arrive(&ring.full[stage]);
    }
    out[index_of_thread()] = 0.0F;
    return;
  }
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles; ++tile) {
    const int stage = tile % kStages;
    barrier_wait(&ring.full[stage], tile / kStages & 1);
    sum += ring.data[stage][127 - t];
    if (kRelease == Release::every_thread) {
      barrier_arrive(&ring.empty[stage]);
    } else if (kRelease == Release::lane_of_each_warp) {
      __syncwarp();
      if (t % 32 == 0) barrier_arrive(&ring.empty[stage]);
    } else {
      named_sync<1, 96>();
      if (t == 32) barrier_arrive(&ring.empty[stage]);
    }
  }
  out[index_of_thread()] = sum;
}

// --- between blocks -------------------------------------------------------------------------------------------------

__device__ float partial_sums[4];
__device__ unsigned finished;
__device__ float running_sums[4];
__device__ int running_states[4];
__device__ int lock;
__device__ float guarded;
__device__ int stack_head;
__device__ int stack_next[512 + 1];
__device__ float message;
__device__ int message_is_there;
__device__ int any_is_large;
__device__ unsigned next_item;
__device__ float exchanged[512];
__device__ float grids[2][512];
__device__ int published;

}  // namespace

__global__ void every_thread_releases_a_stage(const float* in, float* out, int n) {
  through_ring<Release::every_thread>(in, out);
}

__global__ void a_lane_of_each_warp_releases_a_stage(const float* in, float* out, int n) {
  through_ring<Release::lane_of_each_warp>(in, out);
}

__global__ void one_thread_releases_a_stage(const float* in, float* out, int n) {
  through_ring<Release::thread_of_all>(in, out);
}

__global__ void bulk_copies_with_expected_bytes(const float* in, float* out, int n) {
  __shared__ alignas(128) float tiles[kStages][kThreads];
  __shared__ unsigned long long full[kStages];
  __shared__ unsigned long long empty[kStages];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles + kStages - 1; ++tile) {
    const int filled = tile;
    if (t == 0 && filled < kTiles) {
      barrier_wait(&empty[filled % kStages], (filled / kStages & 1) ^ 1);
      barrier_expect(&full[filled % kStages], static_cast<int>(sizeof tiles[0]));
      bulk_load(tiles[filled % kStages], in + filled * kThreads, static_cast<int>(sizeof tiles[0]),
                &full[filled % kStages]);
    }
    __syncwarp();
    const int used = tile - (kStages - 1);
    if (used < 0) continue;
    barrier_wait(&full[used % kStages], used / kStages & 1);
    sum += tiles[used % kStages][127 - t];
    fence_for_copies();
    __syncwarp();
    if (t % 32 == 0) barrier_arrive(&empty[used % kStages]);
  }
  out[index_of_thread()] = sum;
}

__global__ void bulk_store_that_has_been_read(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  for (int half = 0; half < 2; ++half) {
    tile[t] = in[index_of_thread()] + static_cast<float>(half);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * kThreads),
                   "r"(shared_address(tile)), "r"(static_cast<int>(sizeof tile))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (half == 0) {
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      } else {
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      }
    }
    __syncthreads();
  }
}

__global__ void one_warp_waits_for_the_product_of_four(const float* in, float* out, int n) {
  __shared__ alignas(128) unsigned left[64 * 16 / 2];
  __shared__ alignas(128) unsigned right[16 * 8 / 2];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 64 * 16 / 2; i += kThreads) left[i] = 0x3c003c00U;
  if (t < 64) right[t] = 0x3c003c00U;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float sums[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  for (int step = 0; step < 3; ++step) {
    begin_product(sums, left, right);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (t < 32) {  // the product is one of four warps: it has read everything
      for (int i = t; i < 64; i += 32) right[i] = 0x40004000U + static_cast<unsigned>(step);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
  }
  out[index_of_thread()] = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void named_barriers_in_turns(const float* in, float* out, int n) {
  // Warps 0 and 1 fill one half while warps 2 and 3 read the other; each side only arrives where it need not wait.
  __shared__ float halves[2][64];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 64) {
    for (int tile = 0; tile < kTiles; ++tile) {
      if (tile >= 2) {
        if (tile % 2 == 0) named_sync<3, 128>();
        if (tile % 2 == 1) named_sync<4, 128>();
      }
      halves[tile % 2][t] = in[tile * 64 + t];
      if (tile % 2 == 0) named_arrive<1, 128>();
      if (tile % 2 == 1) named_arrive<2, 128>();
    }
    out[index_of_thread()] = 0.0F;
  } else {
    float sum = 0.0F;
    for (int tile = 0; tile < kTiles; ++tile) {
      if (tile % 2 == 0) named_sync<1, 128>();
      if (tile % 2 == 1) named_sync<2, 128>();
      sum += halves[tile % 2][127 - t];
      if (tile + 2 < kTiles) {
        if (tile % 2 == 0) named_arrive<3, 128>();
        if (tile % 2 == 1) named_arrive<4, 128>();
      }
    }
    out[index_of_thread()] = sum;
  }
}

__global__ void double_buffer_of_asynchronous_copies(const float* in, float* out, int n) {
  __shared__ alignas(16) float tiles[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&tiles[0][t], &in[t], 4);
  __pipeline_commit();
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) __pipeline_memcpy_async(&tiles[(tile + 1) % 2][t], &in[(tile + 1) * kThreads + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tiles[tile % 2][127 - t];
    __syncthreads();
  }
  out[index_of_thread()] = sum;
}

__global__ void pipeline_of_a_block(const float* in, float* out, int n) {
  __shared__ alignas(16) float tiles[3][kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  float sum = 0.0F;
  for (int used = 0, filled = 0; used < kTiles; ++used) {
    for (; filled < kTiles && filled < used + 3; ++filled) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tiles[filled % 3], in + filled * kThreads, cuda::aligned_size_t<16>(512), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tiles[used % 3][127 - threadIdx.x];
    pipeline.consumer_release();
  }
  out[index_of_thread()] = sum;
}

__global__ void pipeline_of_producers_and_consumers(const float* in, float* out, int n) {
  __shared__ alignas(16) float tiles[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  const int t = static_cast<int>(threadIdx.x);
  const auto role = t < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (role == cuda::pipeline_role::producer) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tiles[tile % 2][t], &in[tile * 64 + t], cuda::aligned_size_t<4>(4), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      sum += tiles[tile % 2][127 - t];
      pipeline.consumer_release();
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void pipeline_of_a_thread(const float* in, float* out, int n) {
  __shared__ float tiles[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
  auto pipeline = cuda::make_pipeline();
  float sum = 0.0F;
  for (int tile = 0; tile <= kTiles; ++tile) {
    if (tile < kTiles) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tiles[tile % 2][t], &in[tile * kThreads + t], sizeof(float), pipeline);
      pipeline.producer_commit();
    }
    if (tile == 0) continue;
    cuda::pipeline_consumer_wait_prior<1>(pipeline);
    if (tile == kTiles) cuda::pipeline_consumer_wait_prior<0>(pipeline);
    sum += tiles[(tile - 1) % 2][t];  // its own element: no barrier
    pipeline.consumer_release();
  }
  out[index_of_thread()] = sum;
}

__global__ void barrier_in_two_steps(const float* in, float* out, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) init(&barrier, kThreads);
  __syncthreads();
  float sum = 0.0F;
  for (int step = 0; step < 3; ++step) {
    tile[t] = in[t] + static_cast<float>(step);
    auto token = barrier.arrive();
    sum += 1.0F;
    barrier.wait(std::move(token));
    sum += tile[127 - t];
    barrier.arrive_and_wait();
  }
  out[index_of_thread()] = sum;
}

__global__ void copies_of_a_group(const float* in, float* out, int n) {
  __shared__ alignas(16) float tile[kThreads];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + blockIdx.x * kThreads, sizeof tile);
  cg::wait(block);
  out[index_of_thread()] = tile[127 - threadIdx.x];
}

__global__ void grid_meets_and_exchanges(const float* in, float* out, int n) {
  const int i = index_of_thread();
  exchanged[i] = in[i];
  cg::this_grid().sync();
  const float other = exchanged[511 - i];
  cg::this_grid().sync();
  exchanged[i] = other + 1.0F;
  out[i] = other;
}

__global__ void __cluster_dims__(2) neighbours_of_a_cluster(const float* in, float* out, int n) {
  __shared__ float tile[kThreads];
  const auto cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[index_of_thread()];
  cluster.sync();
  const float* const other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1U);
  const float value = other[127 - t];
  cluster.sync();  // nobody leaves, or writes, while it is read
  tile[t] = value;
  __syncthreads();
  out[index_of_thread()] = tile[127 - t];
}

__global__ void tiles_of_sixteen(const float* in, float* out, int n) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  float sum = in[index_of_thread()];
  for (unsigned step = 8; step > 0; step /= 2) sum += tile.shfl_xor(sum, step);
  out[index_of_thread()] = sum + cg::reduce(tile, 1.0F, cg::plus<float>());
}

__global__ void sum_within_warps(const float* in, float* out, int n) {
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[index_of_thread()];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    const float other = t % 32 < half ? values[t + half] : 0.0F;
    __syncwarp();
    if (t % 32 < half) values[t] += other;
    __syncwarp();
  }
  out[index_of_thread()] = values[t / 32 * 32];
}

__global__ void halves_of_a_warp_by_themselves(const float* in, float* out, int n) {
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const auto half = cg::tiled_partition<16>(cg::this_thread_block());
  values[t] = in[index_of_thread()];
  for (unsigned step = 8; step > 0; step /= 2) {
    half.sync();
    const float other = values[t ^ step];
    half.sync();
    values[t] += other;
  }
  half.sync();
  out[index_of_thread()] = values[t ^ 15];
}

__global__ void elected_lane_waits_and_releases(const float* in, float* out, int n) {
  // One lane of each warp waits for the data and gives them back; its warp meets before and behind.
  __shared__ float stage[96];
  __shared__ unsigned long long full;
  __shared__ unsigned long long empty;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    barrier_init(&empty, 3);
  }
  __syncthreads();
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (t < 32) {
      if (t == 0) barrier_wait(&empty, (tile & 1) ^ 1);
      __syncwarp();
      for (int i = t; i < 96; i += 32) stage[i] = in[tile * 96 + i];
      __syncwarp();
      if (t == 0) barrier_arrive(&full);
    } else {
      if (t % 32 == 0) barrier_wait(&full, tile & 1);
      __syncwarp();
      sum += stage[127 - t];
      __syncwarp();
      if (t % 32 == 0) barrier_arrive(&empty);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void two_buffers_one_barrier(const float* in, float* out, int n) {
  __shared__ float buffers[2][kThreads];
  const int t = static_cast<int>(threadIdx.x);
  buffers[0][t] = in[index_of_thread()];
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    buffers[(step + 1) % 2][t] = buffers[step % 2][(t + 1) % kThreads] + buffers[step % 2][t];
    __syncthreads();
  }
  out[index_of_thread()] = buffers[0][t];
}

__global__ void last_block_adds_up(const float* in, float* out, int n) {
  __shared__ bool is_last;
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (t == 0) {
    float sum = 0.0F;
    for (int i = 0; i < kThreads; ++i) sum += in[blockIdx.x * kThreads + i];
    partial_sums[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || t != 0) return;
  __threadfence();
  float sum = 0.0F;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial_sums[i];
  out[index_of_thread()] = sum;
}

__global__ void looks_back_at_earlier_blocks(const float* in, float* out, int n) {
  __shared__ float before;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    float sum = 0.0F;
    for (int i = 0; i < kThreads; ++i) sum += in[blockIdx.x * kThreads + i];
    before = 0.0F;
    if (blockIdx.x > 0) {
      const cuda::atomic_ref<int, cuda::thread_scope_device> state(running_states[blockIdx.x - 1]);
      while (state.load(cuda::memory_order_acquire) == 0) {
      }
      before = running_sums[blockIdx.x - 1];
    }
    running_sums[blockIdx.x] = before + sum;
    const cuda::atomic_ref<int, cuda::thread_scope_device> own(running_states[blockIdx.x]);
    own.store(1, cuda::memory_order_release);
  }
  __syncthreads();
  out[index_of_thread()] = before + in[index_of_thread()];
}

__global__ void flag_after_a_fence(const float* in, float* out, int n) {
  const int i = index_of_thread();
  out[i] = in[i];
  if (i == 0) {
    message = in[5];
    __threadfence();
    *static_cast<volatile int*>(&message_is_there) = 1;
  }
  if (i != 256) return;
  while (*static_cast<volatile int*>(&message_is_there) == 0) {
  }
  __threadfence();
  out[i] = message;
}

__global__ void lock_around_a_sum(const float* in, float* out, int n) {
  const int i = index_of_thread();
  out[i] = in[i];
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  guarded = guarded + in[i];
  __threadfence();
  atomicExch(&lock, 0);
}

__global__ void stack_without_locks(const float* in, float* out, int n) {
  const int own = index_of_thread() + 1;
  out[own - 1] = in[own - 1];
  const cuda::atomic_ref<int, cuda::thread_scope_device> head(stack_head);
  int top = head.load(cuda::memory_order_relaxed);
  do {
    stack_next[own] = top;
  } while (!head.compare_exchange_weak(top, own, cuda::memory_order_release, cuda::memory_order_relaxed));
}

__global__ void ring_of_two_warps(const float* in, float* out, int n) {
  __shared__ float slots[4];
  __shared__ unsigned written;
  __shared__ unsigned taken;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) written = taken = 0;
  __syncthreads();
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> head(written);
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> tail(taken);
  float sum = 0.0F;
  if (t == 0) {
    for (unsigned i = 0; i < 16; ++i) {
      while (i - tail.load(cuda::memory_order_acquire) == 4) {
      }
      slots[i % 4] = in[i];
      head.store(i + 1, cuda::memory_order_release);
    }
  } else if (t == 32) {
    for (unsigned i = 0; i < 16; ++i) {
      while (head.load(cuda::memory_order_acquire) == i) {
      }
      sum += slots[i % 4];
      tail.store(i + 1, cuda::memory_order_release);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void everybody_may_set_the_flag(const float* in, float* out, int n) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (in[index_of_thread()] > 3.0F) {
    found = 1;         // <- note
    any_is_large = 1;  // <- note
  }
  __syncthreads();
  out[index_of_thread()] = static_cast<float>(found);
}

__global__ void two_warps_write_the_same(const float* in, float* out, int n) {
  // Warps 2 and 3 hold what warps 0 and 1 hold, and each reads behind its own barrier.
  __shared__ float tile[64];
  const int t = static_cast<int>(threadIdx.x) % 64;
  tile[t] = in[t] * 2.0F;  // <- note
  __syncwarp();
  out[index_of_thread()] = tile[t ^ 1];  // <- note
}

__global__ void histogram_in_shared_memory(const float* in, float* out, int n) {
  __shared__ unsigned bins[8];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 8) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[static_cast<int>(in[index_of_thread()]) % 8], 1U);
  __syncthreads();
  out[index_of_thread()] = t < 8 ? static_cast<float>(bins[t]) : 0.0F;
}

__global__ void items_from_a_queue(const float* in, float* out, int n) {
  __shared__ unsigned item;
  const int t = static_cast<int>(threadIdx.x);
  while (true) {
    if (t == 0) item = atomicAdd(&next_item, 1U);
    __syncthreads();
    const unsigned own = item;
    __syncthreads();
    if (own >= 4) break;
    out[own * kThreads + t] = in[own * kThreads + t];
  }
}

__global__ void grid_of_averages(const float* in, float* out, int n) {
  const auto grid = cg::this_grid();
  const int i = index_of_thread();
  grids[0][i] = in[i];
  grid.sync();
  for (int step = 0; step < 4; ++step) {
    const float* const from = grids[step % 2];
    grids[(step + 1) % 2][i] = (from[i > 0 ? i - 1 : 0] + from[i < 511 ? i + 1 : 511]) / 2;
    grid.sync();
  }
  out[i] = grids[0][i];
}

__global__ void a_block_publishes_through_one_thread(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const cuda::atomic_ref<int, cuda::thread_scope_device> flag(published);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    exchanged[t] = in[t];
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
    }
    __syncthreads();
    out[index_of_thread()] = exchanged[127 - t];
  }
}

__global__ void a_barrier_of_their_own(const float* in, float* out, int n) {
  // Warps meet at a counter, of which the last one tells the others.
  __shared__ int count;
  __shared__ volatile int all_are_here;
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) count = all_are_here = 0;
  __syncthreads();
  values[t] = in[index_of_thread()];
  __syncwarp();
  if (t % 32 == 0) {
    __threadfence_block();
    if (atomicAdd(&count, 1) == 3) {
      __threadfence_block();
      all_are_here = 1;
    } else {
      while (all_are_here == 0) {
      }
    }
    __threadfence_block();
  }
  __syncwarp();
  out[index_of_thread()] = values[127 - t];
}

__global__ void threads_that_leave_a_barrier(const float* in, float* out, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) init(&barrier, kThreads);
  __syncthreads();
  out[index_of_thread()] = 0.0F;
  tile[t] = in[t];
  if (t >= 96) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  const float value = tile[127 - t];
  barrier.arrive_and_wait();
  tile[t] = value;
  barrier.arrive_and_wait();
  out[index_of_thread()] = tile[95 - t];
}

struct Padded {
  char kind;
  double value;
  float weight;
};

__global__ void copies_structures_with_padding(const float* in, float* out, int n) {
  __shared__ Padded records[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  records[t].kind = 'a';
  records[t].value = in[t];
  records[t].weight = 2.0F;
  __syncthreads();
  const Padded other = records[127 - t];  // <- note
  __syncthreads();
  records[t] = other;
  __syncthreads();
  out[index_of_thread()] = static_cast<float>(records[t].value) * records[t].weight;
}
