// Kernels whose results, or whose end, depend on the order in which their work goes on. Most have no race: every access
// is ordered, but not in one order only. A mark is at a line that ordercheck may name, or at the one where it ends.
#include <cuda/atomic>

#include "kernels.cuh"

namespace {

constexpr int kThreads = 128;
constexpr int kBlocks = 4;

template <typename T>
using Device = cuda::atomic_ref<T, cuda::thread_scope_device>;

__device__ unsigned counters[16];
__device__ unsigned locks[16];
__device__ float sums[16];
__device__ unsigned long long table[64];
__device__ int next_of[kThreads * kBlocks];
__device__ int first_of_list = -1;

__device__ void lock(unsigned* word) {
  while (atomicCAS(word, 0U, 1U) != 0U) {
  }
  __threadfence();
}
__device__ void unlock(unsigned* word) {
  __threadfence();
  atomicExch(word, 0U);
}

}  // namespace

__global__ void a_place_for_each_by_a_counter(const float* in, float* out, int n) {
  const int at = static_cast<int>(atomicAdd(&counters[0], 1U));
  out[at] = in[index_of_thread()] + static_cast<float>(blockIdx.x);  // <- ordercheck
}

__global__ void the_first_block_takes_all(const float* in, float* out, int n) {
  __shared__ bool is_first;
  if (threadIdx.x == 0) is_first = atomicAdd(&counters[1], 1U) == 0;
  __syncthreads();
  if (is_first) out[threadIdx.x] = in[index_of_thread()] + static_cast<float>(blockIdx.x);  // <- ordercheck
}

__global__ void the_last_block_writes(const float* in, float* out, int n) {
  __shared__ bool is_last;
  __threadfence();
  if (threadIdx.x == 0) is_last = atomicAdd(&counters[2], 1U) == gridDim.x - 1;
  __syncthreads();
  if (is_last) out[threadIdx.x] = static_cast<float>(blockIdx.x);  // <- ordercheck
}

__global__ void a_lock_around_what_does_not_commute(const float* in, float* out, int n) {
  if (threadIdx.x != 0) return;
  lock(&locks[0]);
  Device<float> value(out[0]);
  const float before = value.load(cuda::memory_order_relaxed);                              // <- ordercheck
  value.store(before * 2.0F + static_cast<float>(blockIdx.x), cuda::memory_order_relaxed);  // <- ordercheck
  unlock(&locks[0]);
}

__global__ void two_locks_in_two_orders(const float* in, float* out, int n) {
  if (threadIdx.x != 0 || blockIdx.x > 1) return;
  const bool is_odd = blockIdx.x == 1;
  lock(&locks[is_odd ? 2 : 1]);
  atomicAdd(&counters[3], 1U);
  lock(&locks[is_odd ? 1 : 2]);  // <- synccheck
  atomicAdd(&out[0], 1.0F);
  unlock(&locks[is_odd ? 1 : 2]);
  unlock(&locks[is_odd ? 2 : 1]);
}

__global__ void two_warps_take_two_locks(const float* in, float* out, int n) {
  __shared__ unsigned its_locks[2];
  if (threadIdx.x < 2) its_locks[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0 || threadIdx.x > 32) return;
  const int mine = static_cast<int>(threadIdx.x / 32);
  lock(&its_locks[mine]);
  lock(&its_locks[1 - mine]);  // <- synccheck
  out[mine] = in[mine];
  unlock(&its_locks[1 - mine]);
  unlock(&its_locks[mine]);
}

__global__ void one_buffer_for_two_stages(const float* in, float* out, int n) {
  __shared__ volatile float buffer[32];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long empty[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 2) {
    barrier_init(&full[t], 32);
    barrier_init(&empty[t], 32);
  }
  __syncthreads();
  if (t >= 64) return;
  for (int i = 0; i < 4; ++i) {
    if (t < 32) {
      if (i >= 2) barrier_wait(&empty[i % 2], i / 2 - 1);
      buffer[t] = in[i * 32 + t] + static_cast<float>(i);  // <- ordercheck
      barrier_arrive(&full[i % 2]);
    } else {
      barrier_wait(&full[i % 2], i / 2);
      out[i * 32 + t - 32] = buffer[t - 32];  // <- ordercheck
      barrier_arrive(&empty[i % 2]);
    }
  }
}

__global__ void a_limit_that_is_looked_at_first(const float* in, float* out, int n) {
  __shared__ unsigned taken;
  __shared__ float places[2];
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  volatile unsigned* const now = &taken;
  if (*now < 2) {
    const unsigned place = atomicAdd(&taken, 1U);
    places[place] = in[index_of_thread()];   // <- memcheck
    out[index_of_thread()] = places[place];  // <- ordercheck memcheck
  }
}

__global__ void a_table_with_open_addresses(const float* in, float* out, int n) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned long long key = blockIdx.x * 8 + threadIdx.x / 32 + 1;
  for (unsigned at = static_cast<unsigned>(key % 3);; ++at) {
    if (atomicCAS(&table[at % 64], 0ULL, key) != 0ULL) continue;  // <- ordercheck
    out[at % 64] = static_cast<float>(key);                       // <- ordercheck
    break;
  }
}

__global__ void a_list_that_grows_at_its_front(const float* in, float* out, int n) {
  if (threadIdx.x != 0) return;
  const int own = static_cast<int>(blockIdx.x);
  const int next = atomicExch(&first_of_list, own);  // <- ordercheck
  next_of[own] = next;                               // <- ordercheck
}

__global__ void a_tie_that_the_first_wins(const float* in, float* out, int n) {
  __shared__ float best;
  __shared__ int best_at;
  if (threadIdx.x == 0) {
    best = -1.0F;
    best_at = -1;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    lock(&locks[4 + blockIdx.x]);
    volatile float* const value = &best;
    volatile int* const at = &best_at;
    if (1.0F > *value) {
      *value = 1.0F;
      *at = static_cast<int>(threadIdx.x);  // <- ordercheck
    }
    unlock(&locks[4 + blockIdx.x]);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<float>(best_at);  // <- ordercheck
}

__global__ void a_signal_that_may_come_before_its_waiter(const float* in, float* out, int n) {
  __shared__ unsigned waits;
  __shared__ unsigned signals;
  if (threadIdx.x == 0) waits = signals = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&waits, 1U);
    while (atomicAdd(&signals, 0U) == 0U) {  // <- synccheck
    }
    out[blockIdx.x] = in[0];
  } else if (threadIdx.x == 32) {
    if (atomicAdd(&waits, 0U) == 1U) atomicExch(&signals, 1U);
  }
}

__global__ void who_comes_first_to_a_counter_of_its_block(const float* in, float* out, int n) {
  __shared__ unsigned first;
  if (threadIdx.x == 0) first = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0 && atomicCAS(&first, 0U, threadIdx.x + 1U) == 0U) {
    out[blockIdx.x] = static_cast<float>(threadIdx.x);  // <- ordercheck
  }
}

__global__ void tiles_by_a_counter_that_say_who(const float* in, float* out, int n) {
  __shared__ unsigned tile;
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(&counters[5], 1U);
    __syncthreads();
    const unsigned now = tile;
    __syncthreads();
    if (now >= 4) return;
    out[now * kThreads + threadIdx.x] = static_cast<float>(blockIdx.x);  // <- ordercheck
  }
}

__global__ void lanes_that_store_to_one_place(const float* in, float* out, int n) {
  out[blockIdx.x] = static_cast<float>(threadIdx.x % 32);  // <- ordercheck
}

__global__ void a_sum_of_floats_by_atomics(const float* in, float* out, int n) {
  atomicAdd(&out[0], 0.1F * static_cast<float>(index_of_thread()));  // <- note
}

__global__ void a_mean_of_a_sum_by_atomics(const float* in, float* out, int n) {
  __shared__ bool is_last;
  atomicAdd(&sums[0], 0.1F * static_cast<float>(index_of_thread()));
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&counters[6], 1U) == gridDim.x - 1;
  __syncthreads();
  if (is_last && threadIdx.x == 0) out[0] = __ldcg(&sums[0]) / static_cast<float>(n);  // <- note
}

__global__ void a_copy_that_is_read_too_soon(const float* in, float* out, int n) {
  __shared__ alignas(16) float values[32];
  __shared__ unsigned long long barrier;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) barrier_init(&barrier, 1);
  if (t < 32) values[t] = 0.0F;
  __syncthreads();
  fence_for_copies();
  if (t == 0) {
    barrier_expect(&barrier, 32 * sizeof(float));
    BULK_LOAD(values, in + blockIdx.x * 32, 32 * sizeof(float), &barrier);
  }
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = values[t];  // <- ordercheck
  barrier_wait(&barrier, 0);
}

__global__ void a_source_that_changes_too_soon(const float* in, float* out, int n) {
  __shared__ alignas(16) float values[32];
  const int t = static_cast<int>(threadIdx.x);
  if (t >= 32) return;
  values[t] = in[t];
  fence_for_copies();
  __syncwarp();
  if (t == 0) BULK_STORE(out + blockIdx.x * 32, values, 32 * sizeof(float));  // <- ordercheck
  __syncwarp();
  values[t] = -1.0F;  // <- ordercheck
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void a_group_of_copies_that_is_not_waited_for(const float* in, float* out, int n) {
  __shared__ float values[128];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = 0.0F;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&values[t])), "l"(in + t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  out[index_of_thread()] = values[t];  // <- ordercheck
}

__global__ void warps_that_meet_nowhere(const float* in, float* out, int n) {
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[t] + 1.0F;
  out[index_of_thread()] = values[t < 96 ? t : t - 96];  // <- ordercheck
  __syncthreads();
  values[t] = 0.0F;
}

__global__ void lanes_of_two_branches(const float* in, float* out, int n) {
  __shared__ volatile float values[32];
  const int t = static_cast<int>(threadIdx.x);
  if (t >= 32) return;
  values[t] = 0.0F;
  __syncwarp();
  if (t < 16) {
    values[t + 16] = in[t] + 1.0F;
  } else {
    out[blockIdx.x * 32 + t] = values[t];  // <- ordercheck
  }
}

__global__ void a_phase_that_is_counted_twice(const float* in, float* out, int n) {
  __shared__ unsigned arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  volatile unsigned* const count = &arrived;
  *count = *count + 1;  // not one step
  __syncwarp(1U);
  if (*count == 4) out[blockIdx.x] = 1.0F;  // <- ordercheck
}

__global__ void a_buffer_that_is_swapped_by_one(const float* in, float* out, int n) {
  __shared__ int current;
  __shared__ float buffers[2][32];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) current = 0;
  if (t < 64) buffers[t / 32][t % 32] = static_cast<float>(t / 32);
  __syncthreads();
  if (t == 127) *static_cast<volatile int*>(&current) = 1;
  if (t < 32) out[blockIdx.x * 32 + t] = buffers[*static_cast<volatile int*>(&current)][t];  // <- ordercheck
}

__global__ void a_maximum_in_two_steps(const float* in, float* out, int n) {
  __shared__ int greatest;
  if (threadIdx.x == 0) greatest = -1;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  volatile int* const now = &greatest;
  const int own = static_cast<int>(threadIdx.x);
  if (own > *now) *now = own;
  __syncwarp(1U);
  out[blockIdx.x * 4 + threadIdx.x / 32] = static_cast<float>(*now);  // <- ordercheck
}
