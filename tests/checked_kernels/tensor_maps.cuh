// Tensor maps that kernels make, products of four warps, and stores to a neighbour of the cluster.
#pragma once

#include "kernels.cuh"

struct alignas(128) TensorMap {
  unsigned words[32];
};

namespace {

__device__ TensorMap maps[8];

/// Makes a map of one dimension for a row of floats, of which a box takes 128. Called by a warp; of one thread's work.
__device__ inline void make_row_map(TensorMap* map, const float* row, int elements) {
  map->words[threadIdx.x % 32] = 0;
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    const unsigned at = shared_address(map);
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(row)
                 : "memory");
    asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, 128;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at), "r"(elements)
                 : "memory");
    asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 7;" ::"r"(at) : "memory");
  }
  __syncwarp();
}
__device__ inline void acquire_map(const TensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
__device__ inline void release_maps() { asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory"); }
__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
/// Of a factor of 8 columns or more that begins at a multiple of 16 bytes, unswizzled.
__device__ inline unsigned long long factor(const void* at) {
  return static_cast<unsigned long long>((shared_address(at) & 0x3ffffU) >> 4) | 8ULL << 16 | 16ULL << 32;
}

}  // namespace

/// Copies the map in shared memory to global memory, and releases it: by a whole warp.
#define COPY_MAP(to, from)                                                                                             \
  asm volatile(                                                                                                        \
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"( \
          to),                                                                                                         \
      "r"(shared_address(from))                                                                                        \
      : "memory")
/// Loads the first 128 elements of the map's row.
#define LOAD_ROW(to, map, barrier)                                                                                 \
  asm volatile(                                                                                                    \
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"( \
          shared_address(to)),                                                                                     \
      "l"(map), "r"(0), "r"(shared_address(barrier))                                                               \
      : "memory")
/// Adds the product of two factors of halves, 64 x 16 and 16 x 8, to four sums a thread, and commits it.
#define PRODUCT(sums, left, right)                                                                          \
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                   \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" \
               : "+f"((sums)[0]), "+f"((sums)[1]), "+f"((sums)[2]), "+f"((sums)[3])                         \
               : "l"(factor(left)), "l"(factor(right)));                                                    \
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
/// Stores a float in the shared memory of a block of the cluster.
#define REMOTE_STORE(at, rank, value)                                                                                  \
  asm volatile(                                                                                                        \
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\nst.shared::cluster.f32 [remote], %2;\n}" ::"r"( \
          shared_address(at)),                                                                                         \
      "r"(rank), "f"(value)                                                                                            \
      : "memory")
