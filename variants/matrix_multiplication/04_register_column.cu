// @title Eight rows for each thread
// @hypothesis An element of B in a register serves eight rows: 9 loads from shared memory for 8 products, not 16.
//
// A thread computes eight elements of a column of C. For each step of the depth it loads one element of B and
// multiplies it with eight of A, which are the same for all threads of its warp. A block has a tile of 64 x 64 in 512
// threads, and steps of 8. Against the stage below that is 9 loads from shared memory for 8 multiply-adds instead of
// 16; as what a thread needs of a row of A lies side by side, the compiler even fetches four steps of it at once. The
// tile is larger too, so that the L2 is asked half as often. That relieves shared memory and the issue slots.
//
// When it loses: with an eighth of the threads for the same C. A product of 256 x 256 is 16 blocks, not enough for a
// large GPU.
#include <cstddef>

constexpr int tile = 64;   // rows and columns of C for a block
constexpr int depth = 8;   // depth of a step
constexpr int height = 8;  // rows of C for a thread
constexpr int threads = tile * tile / height;
static_assert(tile * depth == threads, "each thread copies one element of A and one of B");

__global__ void __launch_bounds__(threads)
    multiply_register_column(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float a_tile[tile][depth];
  __shared__ float b_tile[depth][tile];
  const int thread = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * tile;
  const int first_column = static_cast<int>(blockIdx.x) * tile;
  const std::size_t columns = static_cast<std::size_t>(N);

  const int a_row = thread / depth;
  const int a_depth = thread % depth;
  const int b_depth = thread / tile;
  const int b_column = thread % tile;
  const bool has_a = first_row + a_row < M;
  const bool has_b = first_column + b_column < N;
  const int row = thread / tile * height;
  const int column = thread % tile;

  float sums[height] = {};
  for (int k0 = 0; k0 < K; k0 += depth) {
    a_tile[a_row][a_depth] =
        has_a && k0 + a_depth < K ? a[static_cast<std::size_t>(first_row + a_row) * K + k0 + a_depth] : 0.0F;
    b_tile[b_depth][b_column] =
        has_b && k0 + b_depth < K ? b[(k0 + b_depth) * columns + first_column + b_column] : 0.0F;
    __syncthreads();  // both tiles are complete before anyone reads them
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const float factor = b_tile[k][column];
#pragma unroll
      for (int i = 0; i < height; ++i) sums[i] += a_tile[row + i][k] * factor;
    }
    __syncthreads();  // everyone is done before they are overwritten
  }
  if (first_column + column >= N) return;
  for (int i = 0; i < height; ++i) {
    if (first_row + row + i < M) c[(first_row + row + i) * columns + first_column + column] = sums[i];
  }
}

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const dim3 grid((N + tile - 1) / tile, (M + tile - 1) / tile);
  multiply_register_column<<<grid, threads>>>(a, b, c, M, N, K);
}
