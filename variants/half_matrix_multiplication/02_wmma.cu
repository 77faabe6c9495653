// @title Tensor cores
// @hypothesis One instruction for a warp makes 4096 multiply-adds, and nothing is converted.
// @requires mod(M, 16) + mod(N, 16) + mod(K, 16) == 0
//
// A warp computes 16 x 16 elements of C. `nvcuda::wmma` loads a fragment of A and one of B, 16 x 16 half floats each,
// and multiplies them with the tensor cores. How the elements lie in the lanes of the warp is the compiler's business.
// Against the stage below that is no conversion, no shared memory and 1/128 of the multiply-add instructions. That
// relieves the arithmetic by a factor of eight or more, depending on the GPU.
//
// When it loses: the fragments come from global memory, each element of A and B once for 16 outputs where the stage
// below has 32: the L2 sets the pace now, and the tensor cores wait. Fragments begin at multiples of 32 bytes, so all
// sizes have to be multiples of 16. The next stage does without that.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstddef>

namespace wmma = nvcuda::wmma;

constexpr int side = 16;  // elements along each side of a fragment
constexpr int warps = 4;  // warps of a block, side by side

__global__ void __launch_bounds__(warps * 32) multiply_wmma(const __half* a, const __half* b, float* c, int N, int K) {
  const int row = static_cast<int>(blockIdx.y) * side;
  const int column = (static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32) * side;
  if (column >= N) return;  // all threads of a warp have the same column
  const std::size_t columns = static_cast<std::size_t>(N);

  wmma::fragment<wmma::accumulator, side, side, side, float> sums;
  wmma::fill_fragment(sums, 0.0F);
  for (int k = 0; k < K; k += side) {
    wmma::fragment<wmma::matrix_a, side, side, side, __half, wmma::row_major> a_part;
    wmma::fragment<wmma::matrix_b, side, side, side, __half, wmma::row_major> b_part;
    wmma::load_matrix_sync(a_part, a + static_cast<std::size_t>(row) * K + k, static_cast<unsigned>(K));
    wmma::load_matrix_sync(b_part, b + k * columns + column, static_cast<unsigned>(N));
    wmma::mma_sync(sums, a_part, b_part, sums);
  }
  wmma::store_matrix_sync(c + row * columns + column, sums, static_cast<unsigned>(N), wmma::mem_row_major);
}

extern "C" void solve(const __half* a, const __half* b, float* c, int M, int N, int K) {
  const dim3 grid((N + warps * side - 1) / (warps * side), M / side);
  multiply_wmma<<<grid, warps * 32>>>(a, b, c, N, K);
}
