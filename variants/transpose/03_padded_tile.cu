// @title A column beside the tile
// @hypothesis no two threads of a warp want the same bank: the tile's columns are read in one turn instead of 32
//
// Against the stage below, a row of the tile is 33 floats long, and the last one is never used. Element [j][i] then
// lies in bank (33 * j + i) mod 32 = (j + i) mod 32: rows are still spread over all banks, and columns are now as well.
// A warp reads its column in one turn instead of 32, which relieves shared memory; 128 bytes of it for each block are
// the price.
//
// When it loses: never against the stage below. But rows of 33 floats begin at any multiple of four bytes, so that
// nobody can load four neighbours at once from them: the last stage spreads the banks in another way.
constexpr int kSide = 32;

__global__ void transpose(const float* x, float* y, int R, int C) {
  __shared__ float tile[kSide][kSide + 1];
  const int i = static_cast<int>(threadIdx.y);
  const int j = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * kSide;
  const int first_column = static_cast<int>(blockIdx.x) * kSide;

  if (first_row + i < R && first_column + j < C) tile[i][j] = x[(first_row + i) * C + first_column + j];
  __syncthreads();  // the tile is complete before anyone reads it
  if (first_column + i < C && first_row + j < R) y[(first_column + i) * R + first_row + j] = tile[j][i];
}

extern "C" void solve(const float* x, float* y, int R, int C) {
  const dim3 blocks((C - 1) / kSide + 1, (R - 1) / kSide + 1);
  transpose<<<blocks, dim3(kSide, kSide)>>>(x, y, R, C);
}
