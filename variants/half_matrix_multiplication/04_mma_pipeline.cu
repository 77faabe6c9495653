// @title mma.sync with the next steps on their way
// @hypothesis cp.async fills the next tiles behind the products, and a warp's 64 x 32 outputs need fewer fragments.
// @parameter TILE 128 64
//
// Three things at once, as they need each other. The tensor cores are used by mma.sync, of which it is documented which
// lane holds which element, so that ldmatrix can fill four registers of a lane with one instruction. A warp has 64 x 32
// elements of C: 6 ldmatrix for 16 products, where 32 x 32 take 4 for 8. And cp.async copies tiles for steps to come
// from global to shared memory without registers in between, past the first-level cache, while the products of this
// step are made; one barrier for each step is enough. Against the stage below that relieves shared memory by a quarter
// for the same products, halves the barriers, and hides the latency of the L2.
//
// When it loses: a block needs 128 x 128 outputs; a product of 512 x 512 has 16 of them, for which TILE 64 (two warps,
// four steps on their way) is the better choice. Rows that do not begin at multiples of 16 bytes cannot be copied by
// cp.async; they go through registers.
#include <cuda_fp16.h>

#include "half_tiles.cuh"

#ifndef TILE
#define TILE 128
#endif

using namespace half_tiles;

constexpr int depth = 32;  // depth of a step
constexpr int stages = TILE == 128 ? 2 : 4;
constexpr int warp_rows = 64;  // rows of C of a warp
constexpr int warp_columns = 32;
constexpr int warps_across = TILE / warp_columns;
constexpr int threads = TILE / warp_rows * warps_across * 32;
// Eight rows of 16 bytes, as ldmatrix reads them, lie in different banks.
constexpr int a_pitch = depth + 8;
constexpr int b_pitch = TILE + 8;

__device__ inline std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

/// Copies 16 bytes, or stores zeros if `is_inside` is false; then nothing is read.
__device__ inline void copy_async(__half* to, const __half* from, bool is_inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(is_inside ? 16 : 0)
               : "memory");
}

/// Loads four 8 x 8 matrices, lane by lane: matrix n comes from the rows that lanes 8 n to 8 n + 7 point to.
__device__ inline void load_matrices(std::uint32_t (&parts)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void load_matrices_turned(std::uint32_t (&parts)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
               : "r"(shared_address(row))
               : "memory");
}

/// Computes sums (16 x 8) += a (16 x 16) * b (16 x 8), by a warp.
__device__ inline void mma(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

struct Tiles {
  __half a[TILE * a_pitch];
  __half b[depth * b_pitch];
};

/// Starts to copy the tiles of the step that begins at `k0`; behind the end of the depth they are zeros.
template <bool vectors>
__device__ inline void copy_step(Tiles& tiles, const Problem& p, int thread, int first_row, int first_column, int k0) {
#pragma unroll
  for (int n = thread; n < TILE * depth / 8; n += threads) {
    const int a_row = first_row + n / (depth / 8);
    const int a_column = k0 + n % (depth / 8) * 8;
    __half* const a_place = tiles.a + n / (depth / 8) * a_pitch + n % (depth / 8) * 8;
    const int b_row = k0 + n / (TILE / 8);
    const int b_column = first_column + n % (TILE / 8) * 8;
    __half* const b_place = tiles.b + n / (TILE / 8) * b_pitch + n % (TILE / 8) * 8;
    if constexpr (vectors) {
      const bool has_a = a_row < p.M && a_column < p.K;
      const bool has_b = b_row < p.K && b_column < p.N;
      copy_async(a_place, has_a ? p.a + static_cast<std::size_t>(a_row) * p.K + a_column : p.a, has_a);
      copy_async(b_place, has_b ? p.b + static_cast<std::size_t>(b_row) * p.N + b_column : p.b, has_b);
    } else {
      copy_eight<false>(a_place, p.a, p.M, p.K, a_row, a_column);
      copy_eight<false>(b_place, p.b, p.K, p.N, b_row, b_column);
    }
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <bool vectors>
__global__ void __launch_bounds__(threads) multiply_mma_pipeline(Problem p) {
  __shared__ __align__(16) Tiles tiles[stages];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int first_row = static_cast<int>(blockIdx.y) * TILE;
  const int first_column = static_cast<int>(blockIdx.x) * TILE;
  const int row = warp / warps_across * warp_rows;
  const int column = warp % warps_across * warp_columns;

#pragma unroll
  for (int n = 0; n < stages - 1; ++n) {
    copy_step<vectors>(tiles[n], p, thread, first_row, first_column, n * depth);
  }
  float sums[4][4][4] = {};
  int now = 0;
  for (int k0 = 0; k0 < p.K; k0 += depth) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();  // this step's tiles are complete, and everyone is done with those that are overwritten next
    copy_step<vectors>(tiles[(now + stages - 1) % stages], p, thread, first_row, first_column,
                       k0 + (stages - 1) * depth);
    const Tiles& step = tiles[now];
    now = (now + 1) % stages;
#pragma unroll
    for (int k = 0; k < depth; k += 16) {
      std::uint32_t a_parts[4][4];
      std::uint32_t b_parts[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        load_matrices(a_parts[i], step.a + (row + i * 16 + lane % 16) * a_pitch + k + lane / 16 * 8);
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        load_matrices_turned(b_parts[j], step.b + (k + lane % 16) * b_pitch + column + j * 16 + lane / 16 * 8);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) mma(sums[i][j], a_parts[i], b_parts[j / 2] + j % 2 * 2);
      }
    }
  }

  const std::size_t columns = static_cast<std::size_t>(p.N);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int to_row = first_row + row + i * 16 + half * 8 + lane / 4;
        const int to_column = first_column + column + j * 8 + lane % 4 * 2;
        if (to_row >= p.M || to_column >= p.N) continue;
        float* const to = p.c + to_row * columns + to_column;
        if constexpr (vectors) {
          *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
        } else {
          to[0] = sums[i][j][half * 2];
          if (to_column + 1 < p.N) to[1] = sums[i][j][half * 2 + 1];
        }
      }
    }
  }
}

extern "C" void solve(const __half* a, const __half* b, float* c, int M, int N, int K) {
  const Problem problem{a, b, c, M, N, K};
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  if (has_vectors(problem)) {
    multiply_mma_pipeline<true><<<grid, threads>>>(problem);
  } else {
    multiply_mma_pipeline<false><<<grid, threads>>>(problem);
  }
}
