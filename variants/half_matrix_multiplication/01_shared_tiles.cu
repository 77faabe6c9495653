// @title Tiles in shared memory
// @hypothesis Half floats are half the bytes of floats, but each product needs two conversions first.
// @parameter TILE 32 16
//
// The stage `shared-tiles` of the matrix multiplication with other types: a block copies a tile of A and one of B into
// shared memory, a thread computes one element of C. The factors are turned into floats when they are used, and the
// sums are floats. Against the same stage with floats, half the bytes move from global memory to shared memory.
//
// What it costs: two loads from shared memory and two conversions for each multiply-add. The ordinary units make one
// multiply-add for each thread and cycle, whatever the type was. It never wins; what follows uses the tensor cores.
#include <cuda_fp16.h>

#include <cstddef>

#ifndef TILE
#define TILE 32
#endif

__global__ void multiply_shared_tiles(const __half* a, const __half* b, float* c, int M, int N, int K) {
  __shared__ __half a_tile[TILE][TILE];
  __shared__ __half b_tile[TILE][TILE];
  const int column = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  const int i = static_cast<int>(blockIdx.y) * TILE + row;
  const int j = static_cast<int>(blockIdx.x) * TILE + column;
  const std::size_t columns = static_cast<std::size_t>(N);
  const __half zero = __float2half(0.0F);

  float sum = 0.0F;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    a_tile[row][column] = i < M && k0 + column < K ? a[static_cast<std::size_t>(i) * K + k0 + column] : zero;
    b_tile[row][column] = j < N && k0 + row < K ? b[(k0 + row) * columns + j] : zero;
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += __half2float(a_tile[row][k]) * __half2float(b_tile[k][column]);
    __syncthreads();  // everyone is done before they are overwritten
  }
  if (i < M && j < N) c[i * columns + j] = sum;
}

extern "C" void solve(const __half* a, const __half* b, float* c, int M, int N, int K) {
  const dim3 block(TILE, TILE);
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  multiply_shared_tiles<<<grid, block>>>(a, b, c, M, N, K);
}
