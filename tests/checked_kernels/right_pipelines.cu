// Right kernels, as those of right.cu, of copies beside the work: stages and their phases, matrix fragments, roles of
// warps.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <cuda/barrier>
#include <cuda/ptx>

#include "kernels.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;
constexpr int kTiles = 4;

__device__ void copy_four(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
/// Zeros instead of what is not there: then nothing is read.
__device__ void copy_four_if(bool is_there, void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(is_there ? 16 : 0)
               : "memory");
}
__device__ void copies_end() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
template <int kCount>
__device__ void named_sync(int name) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "n"(kCount) : "memory");
}
template <int kCount>
__device__ void named_arrive(int name) {
  asm volatile("bar.arrive %0, %1;" ::"r"(name), "n"(kCount) : "memory");
}

/// Whether this lane is the one that acts for its warp.
__device__ bool is_elected() {
  unsigned elected;
  asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\nselp.u32 %0, 1, 0, one;\n}" : "=r"(elected));
  return elected != 0;
}

__device__ float sums[512];

}  // namespace

__global__ void four_stages_of_copies(const float* in, float* out, int n) {
  // As CUTLASS's multistage loop: three stages are on their way, one barrier a step frees and hands over at once.
  __shared__ alignas(16) float stages[4][32];
  const int t = static_cast<int>(threadIdx.x);
  constexpr int kSteps = 12;
  const auto fetch = [&](int step) {
    if (step < kSteps && t < 8) copy_four(&stages[step % 4][t * 4], &in[step * 32 + t * 4]);
    copies_end();
  };
  for (int step = 0; step < 3; ++step) fetch(step);
  float sum = 0.0F;
  for (int step = 0; step < kSteps; ++step) {
    wait_for_copies<2>();
    __syncthreads();
    fetch(step + 3);
    sum += stages[step % 4][31 - t % 32];
  }
  out[index_of_thread()] = sum;
}

__global__ void copies_beyond_the_end_are_zeros(const float* in, float* out, int n) {
  // The address of what is not there is far outside of the tensor.
  __shared__ alignas(16) float tile[4 * kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * 512 + t * 4;
  copy_four_if(first < n, &tile[t * 4], in + (first < n ? first : first * 1000));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[index_of_thread()] = tile[t * 4 + 3] + tile[4 * (127 - t)];
}

__global__ void copies_arrive_at_a_barrier(const float* in, float* out, int n) {
  // cp.async.mbarrier.arrive: two warps copy and go on, two wait for what arrives.
  __shared__ alignas(16) float stages[2][256];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long empty[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 2) {
    barrier_init(&full[t], 64);
    barrier_init(&empty[t], 64);
  }
  __syncthreads();
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles; ++tile) {
    const int stage = tile % 2;
    if (t < 64) {
      barrier_wait(&empty[stage], (tile / 2 & 1) ^ 1);
      copy_four(&stages[stage][t * 4], &in[tile * 64 + t * 4]);
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[stage]))
                   : "memory");
    } else {
      barrier_wait(&full[stage], tile / 2 & 1);
      for (int e = 0; e < 4; ++e) sum += stages[stage][(127 - t) * 4 + e];
      barrier_arrive(&empty[stage]);
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[index_of_thread()] = sum;
}

__global__ void fragments_of_matrices(const float* in, float* out, int n) {
  // ldmatrix and mma of tiles that are stored with swizzled columns, the next one while this one is used.
  __shared__ alignas(16) __half left[2][16 * 16];
  __shared__ alignas(16) __half right[2][8 * 16];
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t % 32;
  const auto place = [](int row, int column) { return row * 16 + ((column / 8) ^ (row / 4 % 2)) * 8 + column % 8; };
  const auto fill = [&](int step) {
    for (int i = t; i < 16 * 16; i += kThreads) left[step % 2][place(i / 16, i % 16)] = __float2half(in[i + step]);
    right[step % 2][place(t / 16, t % 16)] = __float2half(in[t]);
  };
  float c[4] = {0.0F, 0.0F, 0.0F, 0.0F};
  fill(0);
  __syncthreads();
  for (int step = 0; step < 3; ++step) {
    unsigned a[4];
    unsigned b[2];
    const __half* const of_left = &left[step % 2][place(lane % 16, lane / 16 * 8)];
    const __half* const of_right = &right[step % 2][place(lane % 8, lane / 8 % 2 * 8)];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(of_left))
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b[0]), "=r"(b[1])
                 : "r"(shared_address(of_right))
                 : "memory");
    if (step < 2) fill(step + 1);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    __syncthreads();
  }
  out[index_of_thread()] = c[0] + c[1] + c[2] + c[3];
}

__global__ void a_product_by_wmma(const float* in, float* out, int n) {
  // Each warp has its own tile, which it fills, multiplies, stores and reads without the others.
  __shared__ alignas(32) __half factors[4][16 * 16];
  __shared__ alignas(32) float products[4][16 * 16];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = lane; i < 256; i += 32) factors[warp][i] = __float2half(in[i + warp]);
  __syncwarp();
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> a;
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::col_major> b;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
  nvcuda::wmma::fill_fragment(c, 0.0F);
  nvcuda::wmma::load_matrix_sync(a, factors[warp], 16);
  nvcuda::wmma::load_matrix_sync(b, factors[warp], 16);
  nvcuda::wmma::mma_sync(c, a, b, c);
  nvcuda::wmma::store_matrix_sync(products[warp], c, 16, nvcuda::wmma::mem_row_major);
  __syncwarp();
  float sum = 0.0F;
  for (int i = lane; i < 256; i += 32) sum += products[warp][i / 16 + i % 16 * 16];
  out[index_of_thread()] = sum;
}

__global__ void fragments_are_stored_as_matrices(const float* in, float* out, int n) {
  // stmatrix of a transposed tile, which other lanes read as rows.
  __shared__ alignas(16) unsigned tiles[4][8 * 4];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned value = static_cast<unsigned>(in[index_of_thread()]) * 0x00010001U;
  for (int step = 0; step < 2; ++step) {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(shared_address(&tiles[warp][lane % 8 * 4])),
        "r"(value + static_cast<unsigned>(step))
        : "memory");
    __syncwarp();
    out[index_of_thread()] = static_cast<float>(tiles[warp][31 - lane] & 0xffffU);
    __syncwarp();
  }
}

__global__ void producer_and_consumers_with_tokens(const float* in, float* out, int n) {
  // The CUDA C++ Programming Guide's partition of warps: two barriers for each buffer.
  __shared__ float buffers[2][96];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier bars[4];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() < 4) init(&bars[block.thread_rank()], static_cast<std::ptrdiff_t>(block.size()));
  block.sync();
  const int t = static_cast<int>(threadIdx.x);
  if (t < 32) {
    for (int i = 0; i < kTiles; ++i) {
      bars[i % 2].arrive_and_wait();
      for (int e = t; e < 96; e += 32) buffers[i % 2][e] = in[i * 96 + e];
      [[maybe_unused]] const auto token = bars[i % 2 + 2].arrive();
    }
    out[index_of_thread()] = 0.0F;
  } else {
    [[maybe_unused]] auto first = bars[0].arrive();
    [[maybe_unused]] auto second = bars[1].arrive();
    float sum = 0.0F;
    for (int i = 0; i < kTiles; ++i) {
      bars[i % 2 + 2].arrive_and_wait();
      sum += buffers[i % 2][127 - t];
      [[maybe_unused]] const auto token = bars[i % 2].arrive();
    }
    out[index_of_thread()] = sum;
  }
}

__global__ void a_copy_that_a_barrier_counts(const float* in, float* out, int n) {
  // cp.async.bulk by the names of libcu++; what is waited for is a token of one's own arrival.
  __shared__ alignas(16) float tile[kThreads];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier bar;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    init(&bar, kThreads);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  float sum = 0.0F;
  for (int step = 0; step < 3; ++step) {
    Barrier::arrival_token token;
    if (t == 0) {
      cuda::device::memcpy_async_tx(tile, in + step * kThreads, cuda::aligned_size_t<16>(sizeof tile), bar);
      token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else {
      token = bar.arrive();
    }
    bar.wait(std::move(token));
    sum += tile[127 - t];
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
  }
  out[index_of_thread()] = sum;
}

__global__ void a_barrier_is_asked_again_and_again(const float* in, float* out, int n) {
  // Polling with a token between two pieces of work.
  __shared__ float values[kThreads];
  __shared__ unsigned long long barrier;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) barrier_init(&barrier, kThreads);
  __syncthreads();
  values[t] = in[index_of_thread()];
  unsigned long long token;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(shared_address(&barrier)) : "memory");
  unsigned done = 0;
  float passes = 0.0F;
  while (true) {
    asm volatile("{\n.reg .pred done;\nmbarrier.test_wait.shared::cta.b64 done, [%1], %2;\nselp.u32 %0, 1, 0, done;\n}"
                 : "=r"(done)
                 : "r"(shared_address(&barrier)), "l"(token)
                 : "memory");
    if (done != 0) break;
    passes = 1.0F;
  }
  out[index_of_thread()] = values[127 - t] + passes * 0.0F;
}

__global__ void two_groups_in_turns(const float* in, float* out, int n) {
  // As CUTLASS's ping-pong: one group loads its tile while the other one computes, and their names change places.
  __shared__ float shared[64];
  const int t = static_cast<int>(threadIdx.x);
  const int group = t / 64;
  const int own = t % 64;
  float sum = 0.0F;
  if (group == 1) named_arrive<128>(1);  // the other one may begin
  for (int tile = group; tile < 2 * kTiles; tile += 2) {
    named_sync<128>(1 + group);
    shared[own] = in[tile * 64 + own];
    named_sync<64>(3 + group);
    sum += shared[63 - own];
    if (group == 0 || tile + 2 < 2 * kTiles) named_arrive<128>(2 - group);
  }
  out[index_of_thread()] = sum;
}

__global__ void bulk_sums_into_global_memory(const float* in, float* out, int n) {
  // cp.reduce.async.bulk of all blocks to the same place: the sums are atomic.
  __shared__ alignas(128) float tile[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = in[index_of_thread()];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sums),
                 "r"(shared_address(tile)), "r"(static_cast<int>(sizeof tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  out[index_of_thread()] = tile[127 - t];
}

__global__ void an_elected_lane_loads_for_all(const float* in, float* out, int n) {
  // It waits for the kernel before, gives registers back, and lets the next kernel begin before its own end.
  __shared__ alignas(128) float tiles[2][kThreads];
  __shared__ unsigned long long full[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full[0], 1);
    barrier_init(&full[1], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const auto load = [&](int tile) {
    if (t < 32 && is_elected()) {
      barrier_expect(&full[tile % 2], static_cast<int>(sizeof tiles[0]));
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(tiles[tile % 2])),
                   "l"(in + tile * kThreads), "r"(static_cast<int>(sizeof tiles[0])),
                   "r"(shared_address(&full[tile % 2]))
                   : "memory");
    }
  };
  load(0);
  load(1);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles; ++tile) {
    barrier_wait(&full[tile % 2], tile / 2 & 1);
    sum += tiles[tile % 2][127 - t];
    fence_for_copies();
    __syncthreads();
    if (tile + 2 < kTiles) load(tile + 2);
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  out[index_of_thread()] = sum;
}

__global__ void __cluster_dims__(2) one_copy_for_two_blocks(const float* in, float* out, int n) {
  // Multicast: each block loads half a tile for both, and waits for both halves at its own barrier.
  __shared__ alignas(128) float tile[kThreads];
  __shared__ unsigned long long full;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  float sum = 0.0F;
  for (int step = 0; step < 3; ++step) {
    if (t == 0) {
      barrier_expect(&full, static_cast<int>(sizeof tile));
      const unsigned short both = 3;
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
          "%4;" ::"r"(shared_address(tile + rank * 64)),
          "l"(in + step * kThreads + rank * 64), "r"(256), "r"(shared_address(&full)), "h"(both)
          : "memory");
    }
    barrier_wait(&full, step & 1);
    sum += tile[127 - t];
    fence_for_copies();
    cluster.sync();  // both have read it
  }
  out[index_of_thread()] = sum;
}

__global__ void __cluster_dims__(2) two_blocks_free_stages_for_each_other(const float* in, float* out, int n) {
  // Multicast as CUTLASS does it: a stage is free when the readers of both blocks have said so at the loader's barrier.
  __shared__ alignas(128) float stages[2][96];
  __shared__ unsigned long long full[2];
  __shared__ unsigned long long empty[2];
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const int t = static_cast<int>(threadIdx.x);
  if (t < 2) {
    barrier_init(&full[t], 1);
    barrier_init(&empty[t], 2 * 3);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  float sum = 0.0F;
  for (int tile = 0; tile < kTiles; ++tile) {
    const int stage = tile % 2;
    if (t == 0) {
      barrier_wait(&empty[stage], (tile / 2 & 1) ^ 1);
      barrier_expect(&full[stage], static_cast<int>(sizeof stages[0]));
      const unsigned short both = 3;
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
          "%4;" ::"r"(shared_address(stages[stage] + rank * 48)),
          "l"(in + tile * 96 + rank * 48), "r"(192), "r"(shared_address(&full[stage])), "h"(both)
          : "memory");
    } else if (t >= 32) {
      barrier_wait(&full[stage], tile / 2 & 1);
      sum += stages[stage][127 - t];
      fence_for_copies();
      __syncwarp();
      if (t % 32 < 2) {  // a lane for each block
        asm volatile(
            "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(shared_address(&empty[stage])),
            "r"(t % 32)
            : "memory");
      }
    }
  }
  cluster.sync();
  out[index_of_thread()] = sum;
}
