// @title Several elements per thread
// @hypothesis four loads are on their way at once in each thread, and four elements share the arithmetic of their place
// @parameter THREAD_ROWS 8 4 16
//
// Against the stage below, a block has 8 rows of threads and not 32, and a thread has every eighth row of the tile:
// four elements. Its four loads do not wait for each other, so that a quarter of the threads keeps as many bytes under
// way. The place in the matrix is worked out once and then moves on by a constant, so fewer instructions are issued for
// an element; and a barrier stops 8 warps instead of 32, so more blocks are at work while one waits.
//
// When it loses: a small matrix has a quarter of the threads, which may not be enough to fill a GPU. At the edges, a
// thread tests each of its four elements.
#ifndef THREAD_ROWS
#define THREAD_ROWS 8
#endif
constexpr int kSide = 32;

__global__ void transpose(const float* x, float* y, int R, int C) {
  __shared__ float tile[kSide][kSide + 1];
  const int i = static_cast<int>(threadIdx.y);
  const int j = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * kSide;
  const int first_column = static_cast<int>(blockIdx.x) * kSide;

  const int column = first_column + j;
  if (column < C) {
#pragma unroll
    for (int k = 0; k < kSide; k += THREAD_ROWS) {
      const int row = first_row + i + k;
      if (row < R) tile[i + k][j] = x[row * C + column];
    }
  }
  __syncthreads();  // the tile is complete before anyone reads it
  const int row = first_row + j;
  if (row < R) {
#pragma unroll
    for (int k = 0; k < kSide; k += THREAD_ROWS) {
      const int to = first_column + i + k;
      if (to < C) y[to * R + row] = tile[j][i + k];
    }
  }
}

extern "C" void solve(const float* x, float* y, int R, int C) {
  const dim3 blocks((C - 1) / kSide + 1, (R - 1) / kSide + 1);
  transpose<<<blocks, dim3(kSide, THREAD_ROWS)>>>(x, y, R, C);
}
