// Right kernels, as those of right.cu, of threads in groups: parts of warps, tiles, clusters, votes, and memory that is
// used again for something else.
#define _CG_ABI_EXPERIMENTAL  // groups of several warps
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "kernels.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;
constexpr unsigned kAll = 0xffffffffU;

__device__ unsigned chosen;
__device__ unsigned histogram[8];
__device__ float chosen_values[512];

}  // namespace

__global__ void one_atomic_for_all_that_are_here(const float* in, float* out, int n) {
  // Compaction: those that have something ask for places together.
  const int i = index_of_thread();
  out[i] = 0.0F;
  if (in[i] < 2.0F) return;
  const auto here = cg::coalesced_threads();
  unsigned first = 0;
  if (here.thread_rank() == 0) first = atomicAdd(&chosen, here.size());
  first = here.shfl(first, 0);
  chosen_values[first + here.thread_rank()] = in[i];
}

__global__ void a_mask_of_those_that_are_here(const float* in, float* out, int n) {
  // One atomic add for the lanes of a warp that chose, by hand.
  const int i = index_of_thread();
  out[i] = 0.0F;
  const unsigned lane = threadIdx.x % 32;
  const bool is_chosen = in[i] >= 3.0F;
  const unsigned mask = __ballot_sync(kAll, is_chosen);
  if (is_chosen) {
    const int leader = __ffs(static_cast<int>(mask)) - 1;
    unsigned first = 0;
    if (static_cast<int>(lane) == leader) first = atomicAdd(&chosen, static_cast<unsigned>(__popc(mask)));
    first = __shfl_sync(mask, first, leader);
    chosen_values[first + static_cast<unsigned>(__popc(mask & ((1U << lane) - 1)))] = in[i];
  }
}

__global__ void groups_of_one_label(const float* in, float* out, int n) {
  // A group for each key of a warp, which adds to the key's bin once.
  const int i = index_of_thread();
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int key = static_cast<int>(in[i] * 7.0F) % 8;
  const auto same = cg::labeled_partition(warp, key);
  const int sum = cg::reduce(same, 1, cg::plus<int>());
  if (same.thread_rank() == 0) atomicAdd(&histogram[key], static_cast<unsigned>(sum));
  out[i] = static_cast<float>(sum);
}

__global__ void those_that_match(const float* in, float* out, int n) {
  // Equal keys meet through memory: each group has its own barrier of the warp, also if their lanes alternate.
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t % 32;
  values[t] = in[index_of_thread()] + 1.0F;
  const unsigned same = __match_any_sync(kAll, t % 3);
  __syncwarp(same);
  float sum = 0.0F;
  for (unsigned rest = same; rest != 0; rest &= rest - 1) {
    sum += values[t - lane + __ffs(static_cast<int>(rest)) - 1];
  }
  __syncwarp(same);
  values[t] = sum;
  out[index_of_thread()] = values[t];
}

__global__ void both_sides_of_a_branch(const float* in, float* out, int n) {
  // Lanes of either side exchange with their own mask, in a loop of their own length.
  const int i = index_of_thread();
  float sum = in[i];
  if (threadIdx.x % 2 == 0) {
    for (int step = 2; step < 32; step *= 2) sum += __shfl_xor_sync(0x55555555U, sum, step);
  } else {
    for (int step = 16; step > 2; step /= 2) sum = fmaxf(sum, __shfl_xor_sync(0xaaaaaaaaU, sum, step));
  }
  __syncwarp();
  out[i] = __shfl_xor_sync(kAll, sum, 1);
}

__global__ void a_partition_by_a_condition(const float* in, float* out, int n) {
  const int i = index_of_thread();
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const auto side = cg::binary_partition(tile, in[i] > 1.0F);
  const float sum = cg::reduce(side, in[i], cg::plus<float>());
  const int before = cg::exclusive_scan(side, 1);
  out[i] = sum + static_cast<float>(before);
}

__global__ void one_of_a_group_speaks(const float* in, float* out, int n) {
  const int i = index_of_thread();
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const unsigned first = cg::invoke_one_broadcast(tile, [&] { return atomicAdd(&chosen, 8U); });
  chosen_values[first + tile.thread_rank()] = in[i];
  out[i] = 0.0F;
}

__global__ void groups_of_two_warps(const float* in, float* out, int n) {
  // Tiles of 64 threads have a barrier of their own, in memory of the block.
  __shared__ cg::block_tile_memory<kThreads> memory;
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  float value = in[index_of_thread()];
  for (int step = 0; step < 3; ++step) {
    values[t] = value;
    tile.sync();
    value += values[t ^ 32];
    tile.sync();
  }
  out[index_of_thread()] = value + cg::reduce(tile, 1.0F, cg::plus<float>());
}

__global__ void votes_of_a_block(const float* in, float* out, int n) {
  // The votes are barriers as well: no other one is between the writes and the reads.
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  float value = in[index_of_thread()] + static_cast<float>(t % 7);
  values[t] = value;
  int passes = 0;
  while (__syncthreads_or(static_cast<int>(value > 3.0F)) != 0) {
    const float other = values[127 - t];
    const int many = __syncthreads_count(static_cast<int>(other > value));
    value = fminf(value, other) - (many > 0 ? 0.0F : 1.0F);
    values[t] = value;
    ++passes;
  }
  out[index_of_thread()] = value + static_cast<float>(passes);
}

__global__ void warps_that_leave_early(const float* in, float* out, int n) {
  // Warp 3 has nothing to do, and the barrier is of those that are left.
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  out[index_of_thread()] = 0.0F;
  if (t >= 96) return;
  values[t] = in[index_of_thread()];
  __syncthreads();
  const float value = values[95 - t];
  __syncthreads();
  values[t] = value + 1.0F;
  __syncthreads();
  out[index_of_thread()] = values[95 - t];
}

__global__ void lanes_that_leave_early(const float* in, float* out, int n) {
  // The rest of the warp goes on with a mask of itself.
  __shared__ float values[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const bool stays = t % 32 < 20;
  out[index_of_thread()] = 0.0F;
  const unsigned left = __ballot_sync(kAll, stays);
  if (!stays) return;
  values[t] = in[index_of_thread()];
  __syncwarp(left);
  float sum = 0.0F;
  for (int lane = 0; lane < 20; ++lane) sum += values[t / 32 * 32 + lane];
  sum += __shfl_sync(left, sum, 19 - t % 32);
  out[index_of_thread()] = sum;
}

__global__ void memory_with_two_uses(const float* in, float* out, int n) {
  // As CUB's storage: after a barrier the same bytes are keys, then counters, then a sum.
  union Storage {
    float values[kThreads];
    unsigned char digits[kThreads];
    unsigned counters[4][16];
    double sum;
  };
  __shared__ Storage storage;
  const int t = static_cast<int>(threadIdx.x);
  storage.values[t] = in[index_of_thread()];
  __syncthreads();
  const float value = storage.values[(t + 1) % kThreads];
  __syncthreads();
  storage.digits[t] = static_cast<unsigned char>(value * 3.0F);
  __syncthreads();
  const unsigned digit = storage.digits[127 - t];
  __syncthreads();
  if (t < 64) storage.counters[t / 16][t % 16] = 0;
  __syncthreads();
  atomicAdd(&storage.counters[t / 32][digit], 1U);
  __syncthreads();
  const unsigned count = storage.counters[t / 32][digit];
  __syncthreads();
  if (t == 0) storage.sum = 0.5;
  __syncthreads();
  out[index_of_thread()] = static_cast<float>(storage.sum + count);
}

__global__ void exchange_of_a_warp_in_shared_memory(const float* in, float* out, int n) {
  // Blocked to striped and back, as CUB's WarpExchange: a part of the array for each warp, and its own barriers.
  __shared__ float values[4][128 + 4];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  float own[4];
  for (int e = 0; e < 4; ++e) own[e] = in[warp * 128 + lane * 4 + e];
  const auto padded = [](int place) { return place + place / 32; };
  for (int e = 0; e < 4; ++e) values[warp][padded(lane * 4 + e)] = own[e];
  __syncwarp();
  for (int e = 0; e < 4; ++e) own[e] = values[warp][padded(e * 32 + lane)] + 1.0F;
  __syncwarp();
  for (int e = 0; e < 4; ++e) values[warp][padded(e * 32 + lane)] = own[e];
  __syncwarp();
  float sum = 0.0F;
  for (int e = 0; e < 4; ++e) sum += values[warp][padded(lane * 4 + e)];
  out[index_of_thread()] = sum;
}

__global__ void __cluster_dims__(4) histogram_of_a_cluster(const float* in, float* out, int n) {
  // Each block holds two bins, to which all add.
  __shared__ unsigned bins[2];
  const auto cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t < 2) bins[t] = 0;
  cluster.sync();
  const unsigned bin = static_cast<unsigned>(in[index_of_thread()]) % 8;
  atomicAdd(cluster.map_shared_rank(bins, static_cast<int>(bin / 2)) + bin % 2, 1U);
  cluster.sync();
  out[index_of_thread()] = static_cast<float>(bins[t % 2]);
}

__global__ void __cluster_dims__(4) a_cluster_meets_in_two_steps(const float* in, float* out, int n) {
  // Work of their own is between the arrival and the wait.
  __shared__ float values[kThreads];
  __shared__ float own[kThreads];
  const auto cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  float value = in[index_of_thread()];
  for (int step = 0; step < 3; ++step) {
    values[t] = value;
    auto token = cluster.barrier_arrive();
    own[t] = value;
    __syncwarp();
    const float beside = own[t ^ 1];
    __syncwarp();
    cluster.barrier_wait(std::move(token));
    value = beside + cluster.map_shared_rank(values, (cluster.block_rank() + 1) % 4)[127 - t];
    cluster.sync();
  }
  out[index_of_thread()] = value;
}

__global__ void __cluster_dims__(2) a_barrier_of_another_block(const float* in, float* out, int n) {
  // Block 0 fills memory of block 1 and arrives at a barrier there; that one lets it have the memory again.
  __shared__ float values[kThreads];
  __shared__ unsigned long long full;
  __shared__ unsigned long long empty;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, kThreads);
    barrier_init(&empty, kThreads);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  const auto arrive_at_other = [rank](unsigned long long* barrier) {
    asm volatile(
        "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(shared_address(barrier)),
        "r"(rank ^ 1U)
        : "memory");
  };
  const auto wait = [](unsigned long long* barrier, int parity) {
    asm volatile(
        "{\n.reg .pred done;\nAGAIN%=:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra AGAIN%=;\n}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
  };
  float sum = 0.0F;
  for (int step = 0; step < 4; ++step) {
    if (rank == 0) {
      if (step > 0) wait(&empty, (step & 1) ^ 1);
      cluster.map_shared_rank(values, 1)[t] = in[step * kThreads + t];
      arrive_at_other(&full);
    } else {
      wait(&full, step & 1);
      sum += values[127 - t];
      arrive_at_other(&empty);
    }
  }
  cluster.sync();
  out[index_of_thread()] = sum;
}

__global__ void __cluster_dims__(2) stores_that_a_barrier_counts(const float* in, float* out, int n) {
  // st.async: the numbers come with the bytes that the other block's barrier expects.
  __shared__ alignas(16) unsigned values[kThreads];
  __shared__ unsigned long long full;
  const auto cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    barrier_expect(&full, static_cast<int>(sizeof values));
  }
  cluster.sync();
  asm volatile(
      "{\n.reg .b32 place, barrier;\nmapa.shared::cluster.u32 place, %0, %2;\nmapa.shared::cluster.u32 barrier, %1, "
      "%2;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [place], %3, [barrier];\n}" ::"r"(
          shared_address(&values[t])),
      "r"(shared_address(&full)), "r"(cluster.block_rank() ^ 1U), "r"(__float_as_uint(in[index_of_thread()]))
      : "memory");
  asm volatile(
      "{\n.reg .pred done;\nAGAIN%=:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra AGAIN%=;\n}" ::"r"(shared_address(&full))
      : "memory");
  out[index_of_thread()] = __uint_as_float(values[127 - t]);
  cluster.sync();
}
