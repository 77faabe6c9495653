// Kernels as those of lucky.cu, whose threads rely on an order that nothing makes: volatile data, scopes that are too
// narrow, flags without a release or an acquire, and what is done before or behind it.
#include <cuda/atomic>

#include "kernels.cuh"

namespace {

constexpr int kThreads = 128;

template <typename T>
using Device = cuda::atomic_ref<T, cuda::thread_scope_device>;

__device__ float data[8][kThreads];
__device__ unsigned flags[16];
__device__ unsigned counters[8];
__device__ volatile float volatile_data[kThreads];

template <typename Flag>
__device__ void wait_for(const Flag& flag, unsigned value, cuda::memory_order order) {
  while (flag.load(order) < value) {
  }
}

}  // namespace

__global__ void a_volatile_sum_of_a_warp(const float* in, float* out, int n) {
  __shared__ volatile float sums[64];
  const int t = static_cast<int>(threadIdx.x);
  if (t >= 32) return;
  sums[t] = in[t];
  sums[t + 32] = in[t + 32];
  __syncwarp();
  sums[t] = sums[t] + sums[t + 16];  // <- racecheck
  sums[t] = sums[t] + sums[t + 8];   // <- racecheck
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void warps_exchange_volatile_values(const float* in, float* out, int n) {
  __shared__ volatile float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[t];                                     // <- racecheck
  out[index_of_thread()] = values[t < 64 ? t : t - 64];  // <- racecheck
}

__global__ void blocks_exchange_volatile_values(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) volatile_data[t] = in[t];  // <- racecheck
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 1) out[index_of_thread()] = volatile_data[127 - t];  // <- racecheck initcheck
}

__global__ void blocks_count_with_atomics_of_a_block(const float* in, float* out, int n) {
  out[index_of_thread()] = in[threadIdx.x];
  if (threadIdx.x == 0) atomicAdd_block(&counters[0], 1U);  // <- racecheck
}

__global__ void a_flag_of_block_scope(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  if (blockIdx.x == 0) {
    data[0][0] = in[0];     // <- racecheck
    RAISE(cta, &flags[0]);  // <- racecheck
  } else if (blockIdx.x == 1) {
    unsigned seen = 0;
    while (seen == 0) SEE(cta, seen, &flags[0]);  // <- racecheck
    out[index_of_thread()] = data[0][0];          // <- racecheck
  }
}

__global__ void a_fence_of_the_block_before_a_flag(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[1]);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  if (blockIdx.x == 0) {
    data[1][0] = in[0];  // <- racecheck
    __threadfence_block();
    flag.store(1, cuda::memory_order_relaxed);
  } else if (blockIdx.x == 1) {
    wait_for(flag, 1, cuda::memory_order_acquire);
    out[index_of_thread()] = data[1][0];  // <- racecheck
  }
}

__global__ void a_flag_is_raised_without_a_release(const float* in, float* out, int n) {
  // The fence before the data is no use.
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[2]);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  if (blockIdx.x == 0) {
    __threadfence();
    data[2][0] = in[0];  // <- racecheck
    flag.store(1, cuda::memory_order_relaxed);
  } else if (blockIdx.x == 1) {
    wait_for(flag, 1, cuda::memory_order_acquire);
    out[index_of_thread()] = data[2][0];  // <- racecheck
  }
}

__global__ void a_fence_stands_before_the_wait(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[3]);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  if (blockIdx.x == 0) {
    data[3][0] = in[0];  // <- racecheck
    flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    __threadfence();
    wait_for(flag, 1, cuda::memory_order_relaxed);
    out[index_of_thread()] = data[3][0];  // <- racecheck
  }
}

__global__ void a_barrier_acquires_nothing(const float* in, float* out, int n) {
  // A thread sees the flag, the block meets, and nobody has a fence.
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[4]);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    data[4][t] = in[t];  // <- racecheck
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    if (t == 0) wait_for(flag, 1, cuda::memory_order_relaxed);
    __syncthreads();
    out[index_of_thread()] = data[4][t];  // <- racecheck
  }
}

__global__ void the_flag_of_another_tile(const float* in, float* out, int n) {
  // Two warps raise a flag each; the reader waits for one of them and reads what the other wrote.
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0 && t < 64) {
    data[5][t] = in[t];  // <- racecheck
    __syncwarp();
    if (t % 32 == 0) Device<unsigned>(flags[5 + t / 32]).store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1 && t < 32) {
    wait_for(Device<unsigned>(flags[5]), 1, cuda::memory_order_acquire);
    out[index_of_thread()] = data[5][t + 32];  // <- racecheck
  }
}

__global__ void a_warp_writes_behind_the_release(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[7]);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    if (t == 0) flag.store(1, cuda::memory_order_release);
    data[6][t] = in[t];  // <- racecheck
  } else if (blockIdx.x == 1) {
    wait_for(flag, 1, cuda::memory_order_acquire);
    out[index_of_thread()] = data[6][t];  // <- racecheck
  }
}

__global__ void one_thread_acquires_and_others_read(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> flag(flags[8]);
  out[index_of_thread()] = 0.0F;
  if (blockIdx.x == 0) {
    data[7][t] = in[t];  // <- racecheck
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    if (t == 0) wait_for(flag, 1, cuda::memory_order_acquire);
    out[index_of_thread()] = data[7][t];  // <- racecheck
  }
}

__global__ void the_last_block_sums_too_early(const float* in, float* out, int n) {
  // Only thread 0's own value is before its fence: the barrier is missing.
  __shared__ bool is_last;
  const int t = static_cast<int>(threadIdx.x);
  data[blockIdx.x][t] = in[t];  // <- racecheck
  if (t == 0) {
    __threadfence();
    is_last = atomicAdd(&counters[1], 1U) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  float sum = 0.0F;
  for (int b = 0; is_last && b < 4; ++b) sum += data[b][t];  // <- racecheck
  out[index_of_thread()] = sum;
}

__global__ void a_ring_is_published_before_it_is_filled(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> head(flags[9]);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  for (unsigned i = 0; i < 4; ++i) {
    if (blockIdx.x == 0) {
      head.store(i + 1, cuda::memory_order_release);
      data[0][i + 1] = in[i];  // <- racecheck
    } else if (blockIdx.x == 1) {
      wait_for(head, i + 1, cuda::memory_order_acquire);
      out[index_of_thread()] += data[0][i + 1];  // <- racecheck
    }
  }
}

__global__ void __cluster_dims__(2) a_flag_for_the_cluster_is_read_by_another(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (t != 0) return;
  if (blockIdx.x == 0) {
    data[1][1] = in[0];          // <- racecheck
    RAISE(cluster, &flags[10]);  // <- racecheck
  } else if (blockIdx.x == 2) {
    unsigned seen = 0;
    while (seen == 0) SEE(cluster, seen, &flags[10]);  // <- racecheck
    out[index_of_thread()] = data[1][1];               // <- racecheck
  }
}
