// @title Tensor cores fed from shared memory
// @hypothesis An element is fetched once for 64 outputs, not for 16: a quarter of the sectors.
//
// A block of four warps computes 64 x 64 elements of C in steps of 32. It copies the tiles of A and B into shared
// memory, eight half floats at a time, and each warp takes its fragments from there: two of A and two of B for four
// products. Rows of a tile are 16 bytes longer than they need to be, so that the rows of a fragment lie in different
// banks. Against the stage below a quarter of the sectors comes from the L2. Beyond the edges the tiles are zeros, so
// that every size is right. That relieves the path to the L2.
//
// When it loses: two barriers for each step, between which nothing is on its way from memory; with few blocks on a
// multiprocessor the tensor cores wait for them. At the edges of C sums go through shared memory, since a fragment
// cannot be stored in parts.
#include <cuda_fp16.h>
#include <mma.h>

#include "half_tiles.cuh"

namespace wmma = nvcuda::wmma;
using namespace half_tiles;

constexpr int tile = 64;       // rows and columns of C for a block
constexpr int depth = 32;      // depth of a step
constexpr int side = 16;       // elements along each side of a fragment
constexpr int warp_side = 32;  // rows and columns of C for a warp
constexpr int warps_across = tile / warp_side;
constexpr int threads = warps_across * warps_across * 32;
constexpr int a_pitch = depth + 8;
constexpr int b_pitch = tile + 8;

template <bool vectors>
__global__ void __launch_bounds__(threads) multiply_wmma_tiles(Problem p) {
  __shared__ __align__(32) __half a_tile[tile * a_pitch];
  __shared__ __align__(32) __half b_tile[depth * b_pitch];
  __shared__ __align__(32) float edge[threads / 32][side * side];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int first_row = static_cast<int>(blockIdx.y) * tile;
  const int first_column = static_cast<int>(blockIdx.x) * tile;
  const int row = warp / warps_across * warp_side;
  const int column = warp % warps_across * warp_side;

  wmma::fragment<wmma::accumulator, side, side, side, float> sums[2][2];
#pragma unroll
  for (int n = 0; n < 4; ++n) wmma::fill_fragment(sums[n / 2][n % 2], 0.0F);

  for (int k0 = 0; k0 < p.K; k0 += depth) {
    __syncthreads();  // everyone is done with the previous tiles
#pragma unroll
    for (int n = thread; n < tile * depth / 8; n += threads) {
      const int i = n / (depth / 8);
      const int k = n % (depth / 8) * 8;
      copy_eight<vectors>(a_tile + i * a_pitch + k, p.a, p.M, p.K, first_row + i, k0 + k);
    }
#pragma unroll
    for (int n = thread; n < tile * depth / 8; n += threads) {
      const int k = n / (tile / 8);
      const int j = n % (tile / 8) * 8;
      copy_eight<vectors>(b_tile + k * b_pitch + j, p.b, p.K, p.N, k0 + k, first_column + j);
    }
    __syncthreads();  // both tiles are complete before anyone reads them

#pragma unroll
    for (int k = 0; k < depth; k += side) {
      wmma::fragment<wmma::matrix_a, side, side, side, __half, wmma::row_major> a_parts[2];
      wmma::fragment<wmma::matrix_b, side, side, side, __half, wmma::row_major> b_parts[2];
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        wmma::load_matrix_sync(a_parts[n], a_tile + (row + n * side) * a_pitch + k, a_pitch);
        wmma::load_matrix_sync(b_parts[n], b_tile + k * b_pitch + column + n * side, b_pitch);
      }
#pragma unroll
      for (int n = 0; n < 4; ++n)
        wmma::mma_sync(sums[n / 2][n % 2], a_parts[n / 2], b_parts[n % 2], sums[n / 2][n % 2]);
    }
  }

  const std::size_t columns = static_cast<std::size_t>(p.N);
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const int to_row = first_row + row + n / 2 * side;
    const int to_column = first_column + column + n % 2 * side;
    if (vectors && to_row + side <= p.M && to_column + side <= p.N) {
      wmma::store_matrix_sync(p.c + to_row * columns + to_column, sums[n / 2][n % 2], static_cast<unsigned>(p.N),
                              wmma::mem_row_major);
      continue;
    }
    __syncwarp();  // the warp has read the previous part
    wmma::store_matrix_sync(edge[warp], sums[n / 2][n % 2], side, wmma::mem_row_major);
    __syncwarp();  // the part is complete
    for (int element = lane; element < side * side; element += 32) {
      const int i = to_row + element / side;
      const int j = to_column + element % side;
      if (i < p.M && j < p.N) p.c[i * columns + j] = edge[warp][element];
    }
  }
}

extern "C" void solve(const __half* a, const __half* b, float* c, int M, int N, int K) {
  const Problem problem{a, b, c, M, N, K};
  const dim3 grid((N + tile - 1) / tile, (M + tile - 1) / tile);
  if (has_vectors(problem)) {
    multiply_wmma_tiles<true><<<grid, threads>>>(problem);
  } else {
    multiply_wmma_tiles<false><<<grid, threads>>>(problem);
  }
}
