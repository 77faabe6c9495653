// @title One thread per element
// @hypothesis the memory's rate is out of reach: 32 stores of a warp lie in 32 sectors
//
// As the definition reads: the thread at row r and column c loads x[r][c] and stores y[c][r]. The threads of a warp
// have neighbouring columns, so they load 128 bytes in a row, four sectors, but their stores lie R floats apart. Each
// of the 32 touches a sector of its own, 32 bytes for the sake of 4.
//
// What it costs: the path to the L2 carries eight times as many sectors of y as y has. The L2 can put neighbouring
// warps' pieces of a sector together before it goes to DRAM, as long as it can hold that many partial sectors; with a
// large R it cannot. Swapping the roles makes the stores dense and the loads sparse instead: one side always suffers.
constexpr int kSide = 32;  // threads along each side of a block: each warp is one of its rows

__global__ void transpose(const float* x, float* y, int R, int C) {
  const int row = static_cast<int>(blockIdx.y) * kSide + static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * kSide + static_cast<int>(threadIdx.x);
  // The last blocks reach beyond the matrix, which has fewer than 2^31 elements: 32 bits are enough inside it.
  if (row < R && column < C) y[column * R + row] = x[row * C + column];
}

extern "C" void solve(const float* x, float* y, int R, int C) {
  const dim3 blocks((C - 1) / kSide + 1, (R - 1) / kSide + 1);
  transpose<<<blocks, dim3(kSide, kSide)>>>(x, y, R, C);
}
