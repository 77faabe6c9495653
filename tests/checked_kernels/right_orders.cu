// Right kernels, as those of right.cu, whose threads and blocks are ordered by scopes, fences, releases and acquires.
#include <cuda/atomic>

#include "kernels.cuh"

namespace {

constexpr int kThreads = 128;

template <typename T>
using Device = cuda::atomic_ref<T, cuda::thread_scope_device>;
template <typename T>
using Block = cuda::atomic_ref<T, cuda::thread_scope_block>;

__device__ float data[8][kThreads];
__device__ unsigned flags[16];
__device__ unsigned counters[8];
__device__ volatile unsigned volatile_flag;
__device__ volatile unsigned long long states[8];
__device__ int locked;
__device__ float guarded;

template <typename Flag>
__device__ void wait_for(const Flag& flag, unsigned value, cuda::memory_order order) {
  while (flag.load(order) < value) {
  }
}

}  // namespace

__global__ void a_volatile_flag_and_two_fences(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    data[0][t] = in[t];
    __syncthreads();
    if (t == 0) {
      __threadfence();
      volatile_flag = 1;
    }
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      while (volatile_flag == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[index_of_thread()] = data[0][t];
  }
}

__global__ void every_thread_fences_and_one_raises_the_flag(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    data[1][t] = in[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&flags[0], 1U);
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      while (atomicAdd(&flags[0], 0U) == 0) {
      }
    }
    __syncthreads();
    __threadfence();
    out[index_of_thread()] = data[1][t];
  }
}

__global__ void one_acquires_for_all_behind_a_barrier(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[1]);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    data[2][t] = in[t];
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    if (t == 0) wait_for(flag, 1, cuda::memory_order_acquire);
    __syncthreads();
    out[index_of_thread()] = data[2][t];
  }
}

__global__ void blocks_pass_a_value_along(const float* in, float* out, int n) {
  // Block 3 reads what block 0 wrote, and knows it from block 2, which knows it from block 1.
  const int t = static_cast<int>(threadIdx.x);
  const unsigned block = blockIdx.x;
  const Device<unsigned> mine(flags[2 + block]);
  if (block > 0 && t == 0) wait_for(Device<unsigned>(flags[1 + block]), 1, cuda::memory_order_acquire);
  if (block == 0) data[3][t] = in[t];
  __syncthreads();
  const float value = data[3][t];
  __syncthreads();
  if (t == 0) mine.store(1, cuda::memory_order_release);
  out[index_of_thread()] = value;
}

__global__ void a_value_travels_with_its_flag(const float* in, float* out, int n) {
  // Decoupled look-back: the state is one word of 64 bits, whose value is right whenever its flag is there.
  const unsigned block = blockIdx.x;
  out[index_of_thread()] = in[threadIdx.x];
  if (threadIdx.x != 0) return;
  unsigned long long sum = block + 1;
  if (block > 0) {
    unsigned long long before = 0;
    do {
      before = states[block - 1];
    } while ((before >> 32) == 0);
    sum += before & 0xffffffffU;
  }
  states[block] = 1ULL << 32 | sum;
  out[index_of_thread()] = static_cast<float>(sum);
}

__global__ void the_last_block_sums(const float* in, float* out, int n) {
  __shared__ bool is_last;
  const int t = static_cast<int>(threadIdx.x);
  data[4 + blockIdx.x][t] = in[t];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    is_last = atomicAdd(&counters[0], 1U) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  float sum = 0.0F;
  for (int b = 0; is_last && b < 4; ++b) sum += data[4 + b][t];
  out[index_of_thread()] = sum;
}

__global__ void atomics_of_a_block_in_its_own_place(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  atomicAdd_block(&counters[4 + blockIdx.x], 1U);
  __syncthreads();
  out[index_of_thread()] = in[t] + static_cast<float>(counters[4 + blockIdx.x]);
}

__global__ void a_flag_of_block_scope_within_the_block(const float* in, float* out, int n) {
  __shared__ float value;
  __shared__ unsigned is_there;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) is_there = 0;
  __syncthreads();
  const Block<unsigned> flag(is_there);
  if (t == 0) {
    value = in[3];
    flag.store(1, cuda::memory_order_release);
  }
  wait_for(flag, 1, cuda::memory_order_acquire);
  out[index_of_thread()] = value;
}

__global__ void a_lock_that_acquires_and_releases(const float* in, float* out, int n) {
  out[index_of_thread()] = in[threadIdx.x];
  if (threadIdx.x != 0) return;
  const Device<int> lock(locked);
  int free = 0;
  while (!lock.compare_exchange_weak(free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) free = 0;
  guarded += in[0];
  lock.store(0, cuda::memory_order_release);
}

__global__ void volatile_values_behind_a_barrier(const float* in, float* out, int n) {
  __shared__ volatile float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[t];
  __syncthreads();
  out[index_of_thread()] = values[127 - t];
}

__global__ void a_volatile_sum_with_syncwarp(const float* in, float* out, int n) {
  __shared__ volatile float sums[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  sums[t] = in[t];
  for (int half = 16; half > 0; half /= 2) {
    __syncwarp();
    const float other = t % 32 < half ? sums[t + half] : 0.0F;
    __syncwarp();
    sums[t] = sums[t] + other;
  }
  __syncwarp();
  out[index_of_thread()] = sums[t / 32 * 32];
}

__global__ void a_flag_that_counts_rounds(const float* in, float* out, int n) {
  // Two blocks take turns; each waits for the other's round.
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x > 1) return;
  const Device<unsigned> mine(flags[8 + blockIdx.x]);
  const Device<unsigned> theirs(flags[9 - blockIdx.x]);
  float sum = 0.0F;
  for (unsigned round = 1; round <= 4; ++round) {
    if (blockIdx.x == 0) {
      data[0][t] = in[t] + static_cast<float>(round);
      __syncthreads();
      if (t == 0) {
        mine.store(round, cuda::memory_order_release);
        wait_for(theirs, round, cuda::memory_order_acquire);
      }
      __syncthreads();
      sum += data[1][t];
    } else {
      if (t == 0) wait_for(theirs, round, cuda::memory_order_acquire);
      __syncthreads();
      data[1][t] = data[0][t] * 2.0F;
      __syncthreads();
      if (t == 0) mine.store(round, cuda::memory_order_release);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void counted_by_relaxed_atomics(const float* in, float* out, int n) {
  // A histogram needs no order, and the last block reads it behind one.
  __shared__ bool is_last;
  const int t = static_cast<int>(threadIdx.x);
  atomicAdd(&counters[1 + t % 2], 1U);
  __threadfence();
  __syncthreads();
  if (t == 0) is_last = atomicAdd(&counters[3], 1U) == gridDim.x - 1;
  __syncthreads();
  __threadfence();
  out[index_of_thread()] = is_last ? static_cast<float>(counters[1 + t % 2]) : 0.0F;
}

__global__ void a_release_and_then_less(const float* in, float* out, int n) {
  // Behind the release the writer counts with a relaxed atomic, which releases only what came before its old fence.
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[12]);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  if (blockIdx.x == 0) {
    __threadfence();
    data[7][0] = in[0];
    flag.store(1, cuda::memory_order_release);
    atomicAdd(&counters[7], 1U);
  } else if (blockIdx.x == 1) {
    wait_for(flag, 1, cuda::memory_order_acquire);
    while (Device<unsigned>(counters[7]).load(cuda::memory_order_acquire) == 0) {
    }
    out[index_of_thread()] = data[7][0];
  }
}

__global__ void __cluster_dims__(2) a_flag_for_the_cluster(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  unsigned* const flag = &flags[10 + blockIdx.x / 2];
  if (blockIdx.x % 2 == 0) {
    data[6][blockIdx.x] = in[0];
    RAISE(cluster, flag);
  } else {
    unsigned seen = 0;
    while (seen == 0) SEE(cluster, seen, flag);
    out[index_of_thread()] = data[6][blockIdx.x - 1];
  }
}
