// @title Tiles in shared memory
// @hypothesis loads and stores are both dense: a quarter of the sectors in all
//
// Against the stage below, a block turns a tile of 32 x 32 around in shared memory. A warp loads a row of the tile from
// x and, when all rows are there, stores a row of the transposed tile to y: both times 32 neighbouring floats. What was
// sparse is now the walk down a column of the tile, in a memory where sectors do not matter. Sectors stored become an
// eighth, where R is a multiple of eight, and sectors in all (4 + 32 for a warp before, 4 + 4 now) less than a quarter.
//
// When it loses: shared memory has 32 banks, and a column of a tile that is 32 wide lies in one of them: its 32 loads
// are done one after the other. The next stage mends that. Every element also takes two more instructions and a
// barrier, which is too much for a matrix of a few rows or columns: such a matrix was dense before.
constexpr int kSide = 32;

__global__ void transpose(const float* x, float* y, int R, int C) {
  __shared__ float tile[kSide][kSide];
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
