// @title Tiles in shared memory
// @hypothesis An element of A or B is fetched once for a tile of 32 x 32 outputs instead of once for each warp.
// @parameter TILE 32 16 8
//
// A block computes a tile of C. It walks along the depth in steps of TILE; for each it copies a tile of A and a tile of
// B into shared memory, each thread one element of either, and takes all products from there. Against the stage below
// an element of A or B comes from the L2 once for 32 outputs. That relieves the path to the L2 by the size of the tile.
// Beyond the edges the tiles are filled with zeros, so that the products need no test.
//
// When it loses: the first-level cache of a GPU since Volta is the same memory as shared memory and did some of this
// already, and two barriers for each step are new. Each multiply-add still has two loads, now from shared memory: they
// set the pace, not the arithmetic.
#include <cstddef>

#ifndef TILE
#define TILE 32
#endif

__global__ void multiply_shared_tiles(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int column = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  const int i = static_cast<int>(blockIdx.y) * TILE + row;
  const int j = static_cast<int>(blockIdx.x) * TILE + column;
  const std::size_t columns = static_cast<std::size_t>(N);

  float sum = 0.0F;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    a_tile[row][column] = i < M && k0 + column < K ? a[static_cast<std::size_t>(i) * K + k0 + column] : 0.0F;
    b_tile[row][column] = j < N && k0 + row < K ? b[(k0 + row) * columns + j] : 0.0F;
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += a_tile[row][k] * b_tile[k][column];
    __syncthreads();  // everyone is done before they are overwritten
  }
  if (i < M && j < N) c[i * columns + j] = sum;
}

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const dim3 block(TILE, TILE);
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  multiply_shared_tiles<<<grid, block>>>(a, b, c, M, N, K);
}
