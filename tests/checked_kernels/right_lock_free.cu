// Right kernels, as those of right.cu, of threads that speak through atomics: locks, queues, tables and flags.
#include <cooperative_groups.h>

#include <cuda/atomic>

#include "kernels.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;
constexpr unsigned kAll = 0xffffffffU;

template <typename T>
using Device = cuda::atomic_ref<T, cuda::thread_scope_device>;
template <typename T>
using Block = cuda::atomic_ref<T, cuda::thread_scope_block>;

// --- between blocks -------------------------------------------------------------------------------------------------

__device__ unsigned next_ticket;
__device__ unsigned now_served;
__device__ float guarded;
__device__ unsigned long long tagged_head;  ///< index + 1 of the top, below a number of changes
__device__ int next_node[512];
__device__ int node_value[512];
__device__ int heads[16];
__device__ unsigned long long tile_states[8];
__device__ unsigned next_tile;
__device__ unsigned keys[1024];
__device__ unsigned counts[1024];
__device__ int parents[512];
__device__ float table[64];
__device__ int table_is_made;
__device__ int table_lock;
__device__ unsigned sequence;
__device__ float pair_of_numbers[2];
__device__ unsigned free_places[16];
__device__ float places[512];
__device__ int turn;
__device__ float in_turns[kThreads];
__device__ unsigned items_taken;
__device__ float block_sums[4];
__device__ unsigned blocks_done;
__device__ unsigned arrived;
__device__ volatile unsigned generation;
__device__ float exchanged[512];
__device__ unsigned largest;
__device__ float ring[4];
__device__ unsigned ring_written;
__device__ unsigned ring_taken;

__device__ bool pop(int* top) {
  const Device<unsigned long long> head(tagged_head);
  unsigned long long old = head.load(cuda::memory_order_acquire);
  while (true) {
    const int index = static_cast<int>(old & 0xffffffffU) - 1;
    if (index < 0) return false;
    const Device<int> next(next_node[index]);  // somebody may have taken it meanwhile, and push it again
    const auto below = static_cast<unsigned>(next.load(cuda::memory_order_relaxed));
    if (head.compare_exchange_weak(old, ((old >> 32) + 1) << 32 | below, cuda::memory_order_acquire)) {
      *top = index;
      return true;
    }
  }
}

__device__ void push(int index) {
  const Device<unsigned long long> head(tagged_head);
  unsigned long long old = head.load(cuda::memory_order_relaxed);
  unsigned long long wanted;
  do {
    const Device<int> next(next_node[index]);
    next.store(static_cast<int>(old & 0xffffffffU), cuda::memory_order_relaxed);
    wanted = ((old >> 32) + 1) << 32 | static_cast<unsigned>(index + 1);
  } while (!head.compare_exchange_weak(old, wanted, cuda::memory_order_release, cuda::memory_order_relaxed));
}

__device__ int root_of(int node) {
  int parent = Device<int>(parents[node]).load(cuda::memory_order_relaxed);
  while (parent != node) {
    const int above = Device<int>(parents[parent]).load(cuda::memory_order_relaxed);
    Device<int>(parents[node]).store(above, cuda::memory_order_relaxed);
    node = parent;
    parent = above;
  }
  return node;
}

}  // namespace

__global__ void tickets_of_a_lock(const float* in, float* out, int n) {
  const int i = index_of_thread();
  if (threadIdx.x % 32 == 0) {
    const unsigned ticket = atomicAdd(&next_ticket, 1U);
    while (Device<unsigned>(now_served).load(cuda::memory_order_acquire) != ticket) __nanosleep(20);
    guarded += in[i];
    Device<unsigned>(now_served).store(ticket + 1, cuda::memory_order_release);
  }
  out[i] = in[i];
}

__global__ void a_stack_that_is_pushed_and_popped(const float* in, float* out, int n) {
  // Whoever pops a node has its value, whoever pushed it. A tag tells a top that has come back from one that has
  // stayed.
  const int own = index_of_thread();
  out[own] = in[own];
  for (int round = 0; round < 2; ++round) {
    int node = own;
    if (round == 1 && !pop(&node)) continue;
    node_value[node] = own + round;
    push(node);
    int top;
    if (pop(&top)) {
      out[own] = static_cast<float>(node_value[top]);
      push(top);
    }
  }
}

__global__ void lists_by_exchange(const float* in, float* out, int n) {
  // A list for each bucket, as of the fragments of a pixel; the walk begins in a later phase of the grid's work.
  const int i = index_of_thread();
  node_value[i] = static_cast<int>(in[i]);
  next_node[i] = atomicExch(&heads[i % 16], i + 1);
  out[i] = 0.0F;
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(&blocks_done, 1U) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last || threadIdx.x >= 16) return;
  float sum = 0.0F;
  for (int at = atomicAdd(&heads[threadIdx.x], 0); at != 0; at = next_node[at - 1]) {
    sum += static_cast<float>(node_value[at - 1]);
  }
  out[i] = sum;
}

__global__ void decoupled_look_back(const float* in, float* out, int n) {
  // States and sums are one word: 1 is the tile's own sum, 2 the sum of all up to it. A warp looks at 32 tiles at a
  // time.
  __shared__ int tile;
  __shared__ int before;
  __shared__ int sums[4];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) tile = static_cast<int>(atomicAdd(&next_tile, 1U));
  __syncthreads();
  const int value = static_cast<int>(in[tile * kThreads + t]);
  int scan = value;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(kAll, scan, step);
    if (t % 32 >= step) scan += other;
  }
  if (t % 32 == 31) sums[t / 32] = scan;
  __syncthreads();
  if (t < 32) {
    const int total = sums[0] + sums[1] + sums[2] + sums[3];
    auto* const states = static_cast<volatile unsigned long long*>(tile_states);
    if (t == 0) states[tile] = (tile == 0 ? 2ULL : 1ULL) << 32 | static_cast<unsigned>(total);
    int sum = 0;
    for (int end = tile; end > 0; end -= 32) {
      const int looked_at = end - 1 - t;
      unsigned long long state = 2ULL << 32;
      if (looked_at >= 0) {
        do {
          state = states[looked_at];
        } while (state >> 32 == 0);
      }
      const unsigned complete = __ballot_sync(kAll, state >> 32 == 2);
      const int first = __ffs(static_cast<int>(complete)) - 1;
      const int part = complete == 0 || t <= first ? static_cast<int>(state & 0xffffffffU) : 0;
      sum += __reduce_add_sync(kAll, part);
      if (complete != 0) break;
    }
    if (t == 0) {
      before = sum;
      if (tile > 0) states[tile] = 2ULL << 32 | static_cast<unsigned>(sum + total);
    }
  }
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) scan += sums[w];
  out[tile * kThreads + t] = static_cast<float>(before + scan - value);
}

__global__ void grid_looks_keys_up(const float* in, float* out, int n) {
  // Open addressing: a slot belongs to whoever swaps its key in.
  const int i = index_of_thread();
  const unsigned key = static_cast<unsigned>(i % 37) * 2654435761U | 1U;
  for (unsigned slot = key >> 22;; slot = (slot + 1) % 1024) {
    const unsigned old = atomicCAS(&keys[slot], 0U, key);
    if (old != 0 && old != key) continue;
    atomicAdd(&counts[slot], 1U);
    break;
  }
  cg::this_grid().sync();
  unsigned slot = key >> 22;
  while (keys[slot] != key) slot = (slot + 1) % 1024;
  out[i] = static_cast<float>(counts[slot]);
}

__global__ void grid_of_components(const float* in, float* out, int n) {
  // Paths are halved while others hook trees: all of it relaxed, and right with any order.
  const int i = index_of_thread();
  parents[i] = i;
  cg::this_grid().sync();
  int low = root_of(i);
  int high = root_of((i + 8) % 512);
  while (low != high) {
    if (low > high) {
      const int other = low;
      low = high;
      high = other;
    }
    int expected = high;
    if (Device<int>(parents[high]).compare_exchange_strong(expected, low, cuda::memory_order_relaxed)) break;
    low = root_of(low);
    high = root_of(expected);
  }
  cg::this_grid().sync();
  out[i] = static_cast<float>(root_of(i));
}

__global__ void looks_before_it_locks(const float* in, float* out, int n) {
  // Whoever comes first makes the table. Those that see it made do not ask for the lock.
  const int i = index_of_thread();
  if (threadIdx.x % 32 == 0) {
    const Device<int> is_made(table_is_made);
    if (is_made.load(cuda::memory_order_acquire) == 0) {
      const Device<int> lock(table_lock);
      while (lock.exchange(1, cuda::memory_order_acquire) != 0) {
      }
      if (is_made.load(cuda::memory_order_relaxed) == 0) {
        for (int e = 0; e < 64; ++e) table[e] = in[e] * 2.0F;
        is_made.store(1, cuda::memory_order_release);
      }
      lock.store(0, cuda::memory_order_release);
    }
  }
  __syncwarp();
  out[i] = table[i % 64];
}

__global__ void a_lock_of_numbers(const float* in, float* out, int n) {
  // A sequence lock: readers write nothing, and read again what has changed meanwhile.
  const int i = index_of_thread();
  const Device<unsigned> changes(sequence);
  const Device<float> first(pair_of_numbers[0]);
  const Device<float> second(pair_of_numbers[1]);
  if (i == 0) {
    for (unsigned step = 0; step < 4; ++step) {
      changes.store(2 * step + 1, cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
      first.store(static_cast<float>(step), cuda::memory_order_relaxed);
      second.store(static_cast<float>(step) * 2.0F, cuda::memory_order_relaxed);
      changes.store(2 * step + 2, cuda::memory_order_release);
    }
  }
  out[i] = 0.0F;
  if (i < 32) return;
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
  out[i] = two - one * 2.0F;
}

__global__ void places_of_a_bit_map(const float* in, float* out, int n) {
  // A thread owns the place whose bit it has set, until it clears it; who comes next has to see what was left there.
  const int i = index_of_thread();
  unsigned word = static_cast<unsigned>(i) % 16;
  unsigned bit;
  while (true) {
    const unsigned free = ~Device<unsigned>(free_places[word]).load(cuda::memory_order_relaxed);
    if (free == 0) {
      word = (word + 1) % 16;
      continue;
    }
    bit = free & (~free + 1U);
    if ((Device<unsigned>(free_places[word]).fetch_or(bit, cuda::memory_order_acquire) & bit) == 0) break;
  }
  float* const place = &places[word * 32 + static_cast<unsigned>(__ffs(static_cast<int>(bit))) - 1];
  *place = in[i];
  out[i] = *place;
  Device<unsigned>(free_places[word]).fetch_and(~bit, cuda::memory_order_release);
}

__global__ void turns_of_a_semaphore(const float* in, float* out, int n) {
  // As the parts of a product that are split over k: each block adds to what the one before has left.
  const int t = static_cast<int>(threadIdx.x);
  int state = 0;
  do {
    if (t == 0) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(&turn) : "memory");
  } while (__syncthreads_and(t != 0 || state != static_cast<int>(blockIdx.x)) != 0);
  const float sum = (blockIdx.x == 0 ? 0.0F : in_turns[127 - t]) + in[index_of_thread()];
  __syncthreads();
  in_turns[t] = sum;
  out[index_of_thread()] = sum;
  __syncthreads();
  if (t == 0) {
    const int next = static_cast<int>(blockIdx.x + 1);
    asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(&turn), "r"(next) : "memory");
  }
}

__global__ void warps_that_take_items(const float* in, float* out, int n) {
  // They stay until there is no more work; a lane asks for all of its warp.
  const unsigned lane = threadIdx.x % 32;
  while (true) {
    unsigned item = 0;
    if (lane == 0) item = atomicAdd(&items_taken, 32U);
    item = __shfl_sync(kAll, item, 0) + lane;
    if (item >= static_cast<unsigned>(n)) break;
    out[item] = in[item] * 2.0F;
  }
}

__global__ void the_last_block_with_all_its_threads(const float* in, float* out, int n) {
  // As NVIDIA's threadFenceReduction, with a fence on either side.
  __shared__ float sums[kThreads];
  __shared__ bool is_last;
  const int t = static_cast<int>(threadIdx.x);
  const auto sum_of_block = [&] {
    for (int half = kThreads / 2; half >= 32; half /= 2) {
      __syncthreads();
      if (t < half) sums[t] += sums[t + half];
    }
    __syncthreads();
    float sum = sums[t % 32];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(kAll, sum, half);
    return sum;
  };
  sums[t] = in[index_of_thread()];
  out[index_of_thread()] = 0.0F;
  const float sum = sum_of_block();
  if (t == 0) {
    *static_cast<volatile float*>(&block_sums[blockIdx.x]) = sum;
    __threadfence();
    is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  sums[t] = t < static_cast<int>(gridDim.x) ? static_cast<volatile float*>(block_sums)[t] : 0.0F;
  const float total = sum_of_block();
  if (t == 0) out[index_of_thread()] = total;
}

__global__ void grid_that_meets_by_itself(const float* in, float* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  float value = in[index_of_thread()];
  for (int step = 0; step < 3; ++step) {
    exchanged[index_of_thread()] = value;
    for (int side = 0; side < 2; ++side) {
      __syncthreads();
      if (t == 0) {
        const unsigned own = generation;
        __threadfence();
        if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {
          __threadfence();
          generation = own + 1;
        } else {
          while (generation == own) {
          }
        }
        __threadfence();
      }
      __syncthreads();
      if (side == 0) value += exchanged[(index_of_thread() + kThreads) % 512];
    }
  }
  out[index_of_thread()] = value;
}

__global__ void grid_hands_on_through_a_ring(const float* in, float* out, int n) {
  // From the last block to the first, so that the one that runs first has to wait.
  const int t = static_cast<int>(threadIdx.x);
  const Device<unsigned> written(ring_written);
  const Device<unsigned> taken(ring_taken);
  float sum = 0.0F;
  if (blockIdx.x == gridDim.x - 1 && t == 0) {
    for (unsigned i = 0; i < 16; ++i) {
      while (i - taken.load(cuda::memory_order_acquire) == 4) {
      }
      ring[i % 4] = in[i];
      written.fetch_add(1, cuda::memory_order_release);
    }
  } else if (blockIdx.x == 0 && t == 0) {
    for (unsigned i = 0; i < 16; ++i) {
      while (written.load(cuda::memory_order_acquire) == i) {
      }
      sum += ring[i % 4];
      taken.fetch_add(1, cuda::memory_order_release);
    }
  }
  out[index_of_thread()] = sum;
}

__global__ void the_largest_by_swaps(const float* in, float* out, int n) {
  // Begins with a load without order, as the loop of the CUDA C++ Programming Guide.
  const int i = index_of_thread();
  unsigned old = largest;
  while (__uint_as_float(old) < in[i]) {
    const unsigned seen = atomicCAS(&largest, old, __float_as_uint(in[i]));
    if (seen == old) break;
    old = seen;
  }
  out[i] = in[i];
}

// --- within a block -------------------------------------------------------------------------------------------------

__global__ void a_queue_of_many(const float* in, float* out, int n) {
  // Any thread puts in and takes out; the number of a cell says whose turn it is.
  __shared__ float values[8];
  __shared__ unsigned turns[8];
  __shared__ unsigned put;
  __shared__ unsigned got;
  const unsigned t = threadIdx.x;
  if (t < 8) turns[t] = t;
  if (t == 0) put = got = 0;
  __syncthreads();
  out[index_of_thread()] = 0.0F;
  if (t % 32 >= 2) return;
  if (t % 32 == 0) {
    for (int i = 0; i < 6; ++i) {
      const unsigned at = Block<unsigned>(put).fetch_add(1, cuda::memory_order_relaxed);
      const Block<unsigned> turn_of_cell(turns[at % 8]);
      while (turn_of_cell.load(cuda::memory_order_acquire) != at) {
      }
      values[at % 8] = in[i] + 1.0F;
      turn_of_cell.store(at + 1, cuda::memory_order_release);
    }
  } else {
    float sum = 0.0F;
    for (int i = 0; i < 6; ++i) {
      const unsigned at = Block<unsigned>(got).fetch_add(1, cuda::memory_order_relaxed);
      const Block<unsigned> turn_of_cell(turns[at % 8]);
      while (turn_of_cell.load(cuda::memory_order_acquire) != at + 1) {
      }
      sum += values[at % 8];
      turn_of_cell.store(at + 8, cuda::memory_order_release);
    }
    out[index_of_thread()] = sum;
  }
}

__global__ void two_by_petersons_lock(const float* in, float* out, int n) {
  __shared__ int wants[2];
  __shared__ int yields;
  __shared__ float sum;
  const int t = static_cast<int>(threadIdx.x);
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
      sum += in[round];
      Block<int>(wants[me]).store(0);
    }
  }
  __syncthreads();
  out[index_of_thread()] = sum;
}

__global__ void work_is_stolen(const float* in, float* out, int n) {
  // The deque of Chase and Lev: its owner works at the bottom, thieves at the top; they meet over the last item only.
  __shared__ int items[32];
  __shared__ int top;
  __shared__ int bottom;
  __shared__ int done;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) top = bottom = done = 0;
  __syncthreads();
  out[index_of_thread()] = 0.0F;
  if (t % 32 != 0) return;
  const Block<int> at_top(top);
  const Block<int> at_bottom(bottom);
  const Block<int> count(done);
  constexpr int kItems = 24;
  float sum = 0.0F;
  if (t == 0) {
    for (int i = 0; i < kItems; ++i) {
      const int b = at_bottom.load(cuda::memory_order_relaxed);
      Block<int>(items[b % 32]).store(i, cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
      at_bottom.store(b + 1, cuda::memory_order_relaxed);
    }
  }
  while (count.load(cuda::memory_order_relaxed) < kItems) {
    int item = -1;
    if (t == 0) {
      const int b = at_bottom.load(cuda::memory_order_relaxed) - 1;
      at_bottom.store(b, cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
      int first = at_top.load(cuda::memory_order_relaxed);
      if (first <= b) {
        item = Block<int>(items[b % 32]).load(cuda::memory_order_relaxed);
        if (first == b) {
          if (!at_top.compare_exchange_strong(first, first + 1)) item = -1;
          at_bottom.store(b + 1, cuda::memory_order_relaxed);
        }
      } else {
        at_bottom.store(b + 1, cuda::memory_order_relaxed);
      }
    } else {
      int first = at_top.load(cuda::memory_order_acquire);
      cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
      if (first < at_bottom.load(cuda::memory_order_acquire)) {
        item = Block<int>(items[first % 32]).load(cuda::memory_order_relaxed);
        if (!at_top.compare_exchange_strong(first, first + 1)) item = -1;
      }
    }
    if (item < 0) continue;
    sum += in[item];
    count.fetch_add(1, cuda::memory_order_relaxed);
  }
  out[index_of_thread()] = sum;
}
