// @title Eight by eight for each thread
// @hypothesis 16 loads from shared memory for 64 products: an element serves eight rows or eight columns of a thread.
// @parameter TILE 128 64
//
// The register tile in two directions: a thread has 8 rows x 8 columns of C. For each step of the depth it loads eight
// elements of A and eight of B, and makes 64 products of them. Against the stage below that is a quarter of a load for
// each multiply-add instead of more than one. The rows of a thread are TILE / 8 apart, and so are its columns: what the
// threads of a warp load at the same time lies side by side, without a conflict of banks. A is transposed when it is
// copied, with a pitch that takes neighbouring steps of the depth to other banks. That relieves shared memory; the
// arithmetic sets the pace for the first time.
//
// When it loses: a block needs 128 x 128 outputs, and a product of 512 x 512 has only 16 of them. With TILE 64 there
// are 64 blocks of two warps, and each element comes from the L2 twice as often.
#include <cstddef>

#ifndef TILE
#define TILE 128
#endif

constexpr int depth = 8;             // depth of a step
constexpr int side = 8;              // rows and columns of C for a thread
constexpr int across = TILE / side;  // threads in a row of the tile
constexpr int threads = across * across;
constexpr int a_pitch = TILE + 4;  // 8 steps of the depth x 4 rows are 32 banks

__global__ void __launch_bounds__(threads)
    multiply_register_tile(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float a_tile[depth][a_pitch];
  __shared__ float b_tile[depth][TILE];
  const int thread = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * TILE;
  const int first_column = static_cast<int>(blockIdx.x) * TILE;
  const std::size_t columns = static_cast<std::size_t>(N);
  const int row = thread / across;
  const int column = thread % across;

  float sums[side][side] = {};
  for (int k0 = 0; k0 < K; k0 += depth) {
#pragma unroll
    for (int n = thread; n < TILE * depth; n += threads) {
      const int i = n / depth;
      const int k = n % depth;
      a_tile[k][i] = first_row + i < M && k0 + k < K ? a[static_cast<std::size_t>(first_row + i) * K + k0 + k] : 0.0F;
    }
#pragma unroll
    for (int n = thread; n < TILE * depth; n += threads) {
      const int k = n / TILE;
      const int j = n % TILE;
      b_tile[k][j] = first_column + j < N && k0 + k < K ? b[(k0 + k) * columns + first_column + j] : 0.0F;
    }
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      float a_values[side];
      float b_values[side];
#pragma unroll
      for (int i = 0; i < side; ++i) a_values[i] = a_tile[k][row + i * across];
#pragma unroll
      for (int j = 0; j < side; ++j) b_values[j] = b_tile[k][column + j * across];
#pragma unroll
      for (int i = 0; i < side; ++i) {
#pragma unroll
        for (int j = 0; j < side; ++j) sums[i][j] += a_values[i] * b_values[j];
      }
    }
    __syncthreads();  // everyone is done before they are overwritten
  }
#pragma unroll
  for (int i = 0; i < side; ++i) {
    const int to_row = first_row + row + i * across;
#pragma unroll
    for (int j = 0; j < side; ++j) {
      const int to_column = first_column + column + j * across;
      if (to_row < M && to_column < N) c[to_row * columns + to_column] = sums[i][j];
    }
  }
}

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  multiply_register_tile<<<grid, threads>>>(a, b, c, M, N, K);
}
