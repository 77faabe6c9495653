// The transpose of a matrix of rows x columns numbers, by tiles in shared memory: read and written in rows, so that a
// warp's threads touch neighbouring addresses both times. One column more in the tile keeps its columns in different
// banks.

extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];

  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += blockDim.y) {
    const int row = blockIdx.y * 32 + i;
    if (row < rows && column < columns) tile[i][threadIdx.x] = in[row * columns + column];
  }
  __syncthreads();

  const int out_column = blockIdx.y * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += blockDim.y) {
    const int out_row = blockIdx.x * 32 + i;
    if (out_row < columns && out_column < rows) out[out_row * rows + out_column] = tile[threadIdx.x][i];
  }
}
