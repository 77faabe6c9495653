// @title Four floats at a time
// @hypothesis 128-bit loads and stores: a quarter of the instructions that move data, and each store fills its sectors.
// @parameter TILE 128 64
//
// Against the stage below, everything that is moved is moved as four floats: from global memory (a row of A or B at a
// time), from shared memory (two runs of four rows and two of four columns for each thread) and into C. A step of the
// depth has 4 loads for 64 multiply-adds instead of 16. That relieves the issue slots, which are then free for the
// arithmetic. Rows that do not begin at a multiple of 16 bytes (K or N is not a multiple of 4) take a second kernel,
// with single loads and the same tiles.
//
// When it loses: never against the stage below, but less is won than one might hope. Shared memory moves 128 bytes in a
// pass, and 16 bytes for each thread of a warp are four passes: as many as four single loads take. Sums and vectors
// need more than 100 registers, so few warps are there to hide latency; the next stage is about that.
#include "vector_tiles.cuh"

#ifndef TILE
#define TILE 128
#endif

using namespace vector_tiles;

constexpr int depth = 8;          // depth of a step
constexpr int across = TILE / 8;  // threads in a row of the tile
constexpr int threads = across * across;

template <bool vectors>
__global__ void __launch_bounds__(threads) multiply_vectors(Problem p) {
  using Tiles = Step<TILE, depth, threads, vectors>;
  __shared__ __align__(16) typename Tiles::A a_tile;
  __shared__ __align__(16) typename Tiles::B b_tile;
  const int thread = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * TILE;
  const int first_column = static_cast<int>(blockIdx.x) * TILE;
  const int row = thread / across * 4;
  const int column = thread % across * 4;

  Sums<TILE / 2, TILE / 2> sums;
  for (int k0 = 0; k0 < p.K; k0 += depth) {
    Tiles step;
    step.fetch(p, thread, first_row, first_column, k0);
    step.put(a_tile, b_tile, thread);
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < depth; ++k) sums.add(&a_tile[k][row], &b_tile[k][column]);
    __syncthreads();  // everyone is done before they are overwritten
  }
  sums.template store<vectors>(p, first_row + row, first_column + column);
}

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const Problem problem{a, b, c, M, N, K};
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  if (has_vectors(problem)) {
    multiply_vectors<true><<<grid, threads>>>(problem);
  } else {
    multiply_vectors<false><<<grid, threads>>>(problem);
  }
}
