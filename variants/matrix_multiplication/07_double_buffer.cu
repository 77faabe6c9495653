// @title The next step on its way
// @hypothesis The next tiles are fetched while this step's products are made: half the barriers, and no wait for the
// L2.
// @parameter TILE 128 64
//
// In the stage below all warps of a block wait for their loads, put them into shared memory, wait for each other, and
// only then multiply; with two blocks or fewer on a multiprocessor nobody else works meanwhile. Here there are two
// pairs of tiles. A step asks for the next tiles first, makes its own 512 multiply-adds while these are on their way
// into registers, and then puts them into the other pair. Nobody reads what is being written, so one barrier for each
// step is enough. That relieves nothing that is counted but barriers: it hides the latency of the L2 and of DRAM.
//
// When it loses: twice the shared memory, and more registers that wait. Where many blocks share a multiprocessor,
// others work while one waits, and there is nothing to hide.
#include "vector_tiles.cuh"

#ifndef TILE
#define TILE 128
#endif

using namespace vector_tiles;

constexpr int depth = 8;          // depth of a step
constexpr int across = TILE / 8;  // threads in a row of the tile
constexpr int threads = across * across;

template <bool vectors>
__global__ void __launch_bounds__(threads) multiply_double_buffer(Problem p) {
  __shared__ __align__(16) DoubleBuffer<TILE, depth, threads, vectors> buffer;
  const int first_row = static_cast<int>(blockIdx.y) * TILE;
  const int first_column = static_cast<int>(blockIdx.x) * TILE;
  Sums<TILE / 2, TILE / 2> sums;
  buffer.add(p, first_row, first_column, 0, p.K, sums);
  const int thread = static_cast<int>(threadIdx.x);
  sums.template store<vectors>(p, first_row + thread / across * 4, first_column + thread % across * 4);
}

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const Problem problem{a, b, c, M, N, K};
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  if (has_vectors(problem)) {
    multiply_double_buffer<true><<<grid, threads>>>(problem);
  } else {
    multiply_double_buffer<false><<<grid, threads>>>(problem);
  }
}
