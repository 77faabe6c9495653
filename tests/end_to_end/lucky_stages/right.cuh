// Right ways in which a number goes from hand to hand and comes back. All 128 threads of every block call one of them,
// once a launch; what is left in global memory is as it was found. What they show a checker is in
// tests/checked_kernels.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace right {

namespace cg = cooperative_groups;

constexpr int kThreads = 128;
constexpr unsigned kAll = 0xffffffffU;

template <typename T>
using Device = cuda::atomic_ref<T, cuda::thread_scope_device>;
template <typename T>
using Block = cuda::atomic_ref<T, cuda::thread_scope_block>;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ float source[kThreads];
__device__ float block_values[1024];
__device__ unsigned blocks_done;
__device__ unsigned next_ticket;
__device__ unsigned now_served;
__device__ float guarded;
__device__ unsigned long long tagged_head;
__device__ unsigned next_node[1 << 16];
__device__ float node_value[1 << 16];
__device__ float table[kThreads];
__device__ int table_is_made;
__device__ int table_lock;
__device__ unsigned sequence;
__device__ float pair_of_numbers[2];
__device__ unsigned free_places[32];
__device__ float places[1024];
__device__ unsigned turn;
__device__ float in_turns[kThreads];
__device__ unsigned chosen;
__device__ unsigned largest;

__device__ inline int here() { return static_cast<int>(threadIdx.x); }
__device__ inline unsigned everywhere() { return blockIdx.x * kThreads + threadIdx.x; }

__device__ inline float two_tiles_one_barrier(float value) {
  __shared__ float tiles[2][kThreads];
  for (int step = 0; step < 4; ++step) {
    tiles[step % 2][here()] = value;
    __syncthreads();
    value = tiles[step % 2][kThreads - 1 - here()];
  }
  return value;
}

__device__ inline float copies_of_four_stages(float value) {
  __shared__ alignas(16) float stages[4][kThreads];
  const int t = here();
  const auto fetch = [&](int step) {
    if (step < 8) __pipeline_memcpy_async(&stages[step % 4][t], &source[t], 4);
    __pipeline_commit();
  };
  for (int step = 0; step < 3; ++step) fetch(step);
  for (int step = 0; step < 8; ++step) {
    __pipeline_wait_prior(2);
    __syncthreads();
    fetch(step + 3);
    value += stages[step % 4][kThreads - 1 - t];  // zeros
  }
  return value;
}

__device__ inline float a_pipeline_of_roles(float value) {
  __shared__ alignas(16) float tiles[2][64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const int t = here();
  const auto role = t < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state, role);
  for (int tile = 0; tile < 4; ++tile) {
    if (role == cuda::pipeline_role::producer) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tiles[tile % 2][t], &source[t], cuda::aligned_size_t<4>(4), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      value += tiles[tile % 2][127 - t];
      pipeline.consumer_release();
    }
  }
  return value;
}

__device__ inline float barriers_with_tokens(float value) {
  __shared__ float buffers[2][96];
  __shared__ Barrier bars[4];
  const int t = here();
  if (t < 4) init(&bars[t], kThreads);
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < 4; ++i) {
      bars[i % 2].arrive_and_wait();
      for (int e = t; e < 96; e += 32) buffers[i % 2][e] = 0.0F;
      [[maybe_unused]] const auto token = bars[i % 2 + 2].arrive();
    }
  } else {
    [[maybe_unused]] const auto first = bars[0].arrive();
    [[maybe_unused]] const auto second = bars[1].arrive();
    for (int i = 0; i < 4; ++i) {
      bars[i % 2 + 2].arrive_and_wait();
      value += buffers[i % 2][127 - t];
      [[maybe_unused]] const auto token = bars[i % 2].arrive();
    }
  }
  __syncthreads();
  return value;
}

__device__ inline float named_barriers(float value) {
  __shared__ float halves[2][64];
  const int t = here();
  const int group = t / 64;
  for (int step = 0; step < 2; ++step) {
    halves[group][t % 64] = value;
    asm volatile("bar.sync %0, 64;" ::"r"(group + 1) : "memory");
    value = halves[group][63 - t % 64];
    asm volatile("bar.sync %0, 64;" ::"r"(group + 1) : "memory");
  }
  return value;
}

__device__ inline float tiles_of_a_warp(float value) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  float other = value;
  for (unsigned step = 1; step < 16; step *= 2) other = tile.shfl_xor(other, step);
  return tile.shfl_xor(other, 15) + cg::reduce(tile, 0.0F, cg::plus<float>());
}

__device__ inline float those_that_are_here(float value) {
  __shared__ unsigned count;
  __shared__ float kept[kThreads];
  if (here() == 0) count = 0;
  __syncthreads();
  int place = -1;
  if (value > 0.0F) {
    const auto group = cg::coalesced_threads();
    unsigned first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(&count, group.size());
    place = static_cast<int>(group.shfl(first, 0) + group.thread_rank());
    kept[place] = value;
  }
  __syncthreads();
  return place < 0 ? value : kept[place];
}

__device__ inline float labels(float value) {
  __shared__ unsigned bins[8];
  if (here() < 8) bins[here()] = 0;
  __syncthreads();
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const unsigned label = __float_as_uint(value) / 64 % 8;
  const auto same = cg::labeled_partition(warp, static_cast<int>(label));
  if (same.thread_rank() == 0) atomicAdd(&bins[label], same.size());
  __syncthreads();
  return bins[label] == 0 ? 0.0F : value;
}

__device__ inline float votes(float value) {
  __shared__ float values[kThreads];
  values[here()] = value;
  int left = 4;
  while (__syncthreads_or(left) != 0) {
    value = values[kThreads - 1 - here()];
    if (__syncthreads_count(left) != kThreads) return 0.0F;
    values[here()] = value;
    --left;
  }
  return value;
}

__device__ inline float a_part_of_a_warp(float value) {
  __shared__ float values[kThreads];
  const bool stays = here() % 32 < 20;
  const unsigned mask = __ballot_sync(kAll, stays);
  if (stays) {
    const int mirror = here() / 32 * 32 + 19 - here() % 32;
    values[here()] = value;
    __syncwarp(mask);
    value = values[mirror];
    value = __shfl_sync(mask, value, 19 - here() % 32);
  }
  __syncwarp();
  return value;
}

__device__ inline float those_that_match(float value) {
  __shared__ float values[kThreads];
  const unsigned same = __match_any_sync(kAll, here() % 3);
  const int first = here() / 32 * 32 + __ffs(static_cast<int>(same)) - 1;
  values[here()] = value;
  __syncwarp(same);
  const float other = values[first];
  __syncwarp(same);
  values[here()] = other;
  return values[here()] == 1e30F ? 0.0F : value;
}

__device__ inline float memory_with_two_uses(float value) {
  union Storage {
    float values[kThreads];
    unsigned char digits[kThreads];
  };
  __shared__ Storage storage;
  const int t = here();
  storage.values[t] = value;
  __syncthreads();
  value = storage.values[kThreads - 1 - t];
  __syncthreads();
  storage.digits[t] = static_cast<unsigned char>(t);
  __syncthreads();
  const int digit = storage.digits[kThreads - 1 - t];
  __syncthreads();
  storage.values[t] = value;
  __syncthreads();
  return storage.values[digit];
}

__device__ inline float the_last_block(float value) {
  __shared__ bool is_last;
  if (here() == 0) {
    *static_cast<volatile float*>(&block_values[blockIdx.x % 1024]) = value;
    __threadfence();
    is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return value;
  const float other = static_cast<volatile float*>(block_values)[here() % min(gridDim.x, 1024U)];
  return other == 1e30F ? 0.0F : value;
}

__device__ inline float tickets(float value) {
  if (here() % 32 == 0) {
    const unsigned ticket = atomicAdd(&next_ticket, 1U);
    while (Device<unsigned>(now_served).load(cuda::memory_order_acquire) != ticket) __nanosleep(20);
    guarded = value;
    value = guarded;
    Device<unsigned>(now_served).store(ticket + 1, cuda::memory_order_release);
  }
  __syncwarp();
  return value;
}

__device__ inline float a_stack(float value) {
  // Everybody pushes a node, and takes one off; a tag tells a top that has come back from one that has stayed.
  const Device<unsigned long long> head(tagged_head);
  const unsigned own = everywhere() % (1 << 16);
  if (everywhere() >= 1 << 16) return value;
  node_value[own] = value;
  unsigned long long old = head.load(cuda::memory_order_relaxed);
  unsigned long long wanted;
  do {
    Device<unsigned>(next_node[own]).store(static_cast<unsigned>(old), cuda::memory_order_relaxed);
    wanted = ((old >> 32) + 1) << 32 | (own + 1);
  } while (!head.compare_exchange_weak(old, wanted, cuda::memory_order_release, cuda::memory_order_relaxed));
  old = head.load(cuda::memory_order_acquire);
  unsigned top;
  do {
    top = static_cast<unsigned>(old) - 1;
    wanted = ((old >> 32) + 1) << 32 | Device<unsigned>(next_node[top]).load(cuda::memory_order_relaxed);
  } while (!head.compare_exchange_weak(old, wanted, cuda::memory_order_acquire, cuda::memory_order_acquire));
  return node_value[top] == 1e30F ? 0.0F : value;
}

__device__ inline float a_queue_of_many(float value) {
  __shared__ float values[8];
  __shared__ unsigned turns[8];
  __shared__ unsigned put;
  __shared__ unsigned got;
  const int t = here();
  if (t < 8) turns[t] = static_cast<unsigned>(t);
  if (t == 0) put = got = 0;
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    const bool puts = t % 32 == 0;
    if (t % 32 > 1) continue;
    const unsigned at = Block<unsigned>(puts ? put : got).fetch_add(1, cuda::memory_order_relaxed);
    const Block<unsigned> turn_of_cell(turns[at % 8]);
    while (turn_of_cell.load(cuda::memory_order_acquire) != at + (puts ? 0 : 1)) {
    }
    if (puts) {
      values[at % 8] = value;
    } else if (values[at % 8] == 1e30F) {
      value = 0.0F;
    }
    turn_of_cell.store(at + (puts ? 1 : 8), cuda::memory_order_release);
  }
  __syncthreads();
  return value;
}

__device__ inline float petersons_lock(float value) {
  __shared__ int wants[2];
  __shared__ int yields;
  __shared__ float sum;
  const int t = here();
  if (t == 0) {
    wants[0] = wants[1] = yields = 0;
    sum = 0.0F;
  }
  __syncthreads();
  if (t % 32 == 0 && t < 64) {
    const int me = t / 32;
    for (int round = 0; round < 4; ++round) {
      Block<int>(wants[me]).store(1);
      Block<int>(yields).store(me);
      while (Block<int>(wants[1 - me]).load() == 1 && Block<int>(yields).load() == me) {
      }
      sum += 1.0F;
      Block<int>(wants[me]).store(0);
    }
  }
  __syncthreads();
  return sum == 8.0F ? value : 0.0F;
}

__device__ inline float looks_before_it_locks(float value) {
  if (here() % 32 == 0) {
    const Device<int> is_made(table_is_made);
    if (is_made.load(cuda::memory_order_acquire) == 0) {
      const Device<int> lock(table_lock);
      while (lock.exchange(1, cuda::memory_order_acquire) != 0) {
      }
      if (is_made.load(cuda::memory_order_relaxed) == 0) {
        for (int e = 0; e < kThreads; ++e) table[e] = 1.0F;
        is_made.store(1, cuda::memory_order_release);
      }
      lock.store(0, cuda::memory_order_release);
    }
  }
  __syncwarp();
  return value * table[here()];
}

__device__ inline float a_lock_of_numbers(float value) {
  const Device<unsigned> changes(sequence);
  const Device<float> first(pair_of_numbers[0]);
  const Device<float> second(pair_of_numbers[1]);
  if (everywhere() == 0) {
    const unsigned now = changes.load(cuda::memory_order_relaxed);
    changes.store(now + 1, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    first.store(value, cuda::memory_order_relaxed);
    second.store(value * 2.0F, cuda::memory_order_relaxed);
    changes.store(now + 2, cuda::memory_order_release);
  }
  if (here() != 32) return value;
  float one;
  float two;
  unsigned before;
  do {
    do {
      before = changes.load(cuda::memory_order_acquire);
    } while (before % 2 == 1);
    one = first.load(cuda::memory_order_relaxed);
    two = second.load(cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
  } while (changes.load(cuda::memory_order_relaxed) != before);
  return two == one * 2.0F ? value : 0.0F;
}

__device__ inline float places_of_a_bit_map(float value) {
  unsigned word = everywhere() % 32;
  unsigned bit;
  while (true) {
    const unsigned free = ~Device<unsigned>(free_places[word]).load(cuda::memory_order_relaxed);
    if (free == 0) {
      word = (word + 1) % 32;
      continue;
    }
    bit = free & (~free + 1U);
    if ((Device<unsigned>(free_places[word]).fetch_or(bit, cuda::memory_order_acquire) & bit) == 0) break;
  }
  float* const place = &places[word * 32 + static_cast<unsigned>(__ffs(static_cast<int>(bit))) - 1];
  *place = value;
  value = *static_cast<volatile float*>(place);
  Device<unsigned>(free_places[word]).fetch_and(~bit, cuda::memory_order_release);
  return value;
}

__device__ inline float turns_of_a_semaphore(float value) {
  const int t = here();
  unsigned state = 0;
  do {
    if (t == 0) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(&turn) : "memory");
  } while (__syncthreads_and(static_cast<int>(t != 0 || state != blockIdx.x)) != 0);
  const float other = in_turns[kThreads - 1 - t];
  __syncthreads();
  in_turns[t] = value;
  __syncthreads();
  if (t == 0) {
    const unsigned next = (blockIdx.x + 1) % gridDim.x;
    asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(&turn), "r"(next) : "memory");
  }
  return other == 1e30F ? 0.0F : value;
}

__device__ inline float an_exchange_of_a_warp(float value) {
  __shared__ float values[4][33];
  const int warp = here() / 32;
  const int lane = here() % 32;
  for (int step = 0; step < 2; ++step) {
    values[warp][lane] = value;
    __syncwarp();
    value = values[warp][31 - lane];
    __syncwarp();
  }
  return value;
}

__device__ inline float places_for_a_warp(float value) {
  const unsigned mask = __ballot_sync(kAll, value > 0.0F);
  if (value > 0.0F) {
    const int leader = __ffs(static_cast<int>(mask)) - 1;
    unsigned first = 0;
    if (here() % 32 == leader) first = atomicAdd(&chosen, static_cast<unsigned>(__popc(mask)));
    first = __shfl_sync(mask, first, leader);
    if (first == 0xffffffffU) value = 0.0F;
  }
  return value;
}

__device__ inline float the_largest_by_swaps(float value) {
  unsigned old = largest;
  while (__uint_as_float(old) < value) {
    const unsigned seen = atomicCAS(&largest, old, __float_as_uint(value));
    if (seen == old) break;
    old = seen;
  }
  return value;
}

__device__ inline float everybody_sets_the_flag(float value) {
  // Which one does it does not matter: all write the same.
  __shared__ int found;
  if (here() == 0) found = 0;
  __syncthreads();
  if (value != 0.0F) found = 1;
  __syncthreads();
  return found == 0 ? 0.0F : value;
}

}  // namespace right
