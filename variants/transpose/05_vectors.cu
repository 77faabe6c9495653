// @title Vectors of four, swizzled
// @hypothesis a quarter of the memory instructions: everything is loaded and stored 16 bytes at a time
//
// Against the stage below, a thread has 4 x 4 neighbouring elements. It loads four vectors, one from each row, turns
// the square around in its registers, which costs nothing but other names for them, and writes the four rows of the
// transposed square into the tile as vectors. Then it carries four vectors from the tile to y. Loads, stores and both
// ways through shared memory are 16 bytes wide: a quarter of the memory instructions for the same bytes.
//
// Padding would break the alignment of vectors, so the tile is swizzled: the vector that belongs at place q of a row
// lies at q xor a number that is another one for each of eight squares. The eight threads that are served in one turn
// (eight times 16 bytes are all 32 banks) always find eight different places. The tile is 64 x 64, so that a warp still
// touches 256 bytes in a row.
//
// When it loses: vectors need rows that begin at multiples of 16 bytes: C a multiple of four for the loads, R for the
// stores. Otherwise that side goes element by element, with all the tests; its sectors are touched four times over. And
// there are a quarter of the blocks, so a matrix below some thousand squared leaves parts of a large GPU idle.
constexpr int kSide = 64;
constexpr int kQuads = kSide / 4;  // vectors in a row of the tile, and threads along each side of the block

/// The four elements of row `row` of a matrix from `column` on; elements outside it are 0. With `aligned`, `width` is a
/// multiple of four, so that a vector is all inside or all outside.
__device__ float4 load_four(const float* matrix, int height, int width, int row, int column, bool aligned) {
  float4 v = make_float4(0, 0, 0, 0);
  if (row >= height || column >= width) return v;
  const float* from = matrix + row * width + column;
  if (aligned) return *reinterpret_cast<const float4*>(from);
  v.x = from[0];
  if (column + 1 < width) v.y = from[1];
  if (column + 2 < width) v.z = from[2];
  if (column + 3 < width) v.w = from[3];
  return v;
}

__device__ void store_four(float* matrix, int height, int width, int row, int column, bool aligned, float4 v) {
  if (row >= height || column >= width) return;
  float* to = matrix + row * width + column;
  if (aligned) {
    *reinterpret_cast<float4*>(to) = v;
    return;
  }
  to[0] = v.x;
  if (column + 1 < width) to[1] = v.y;
  if (column + 2 < width) to[2] = v.z;
  if (column + 3 < width) to[3] = v.w;
}

/// Where vector `quad` of row `row` of the transposed tile lies.
__device__ int swizzled(int row, int quad) { return row * kQuads + (quad ^ (row / 4 % 8)); }

__global__ void transpose(const float* x, float* y, int R, int C) {
  __shared__ float4 tile[kSide * kQuads];
  const int i = static_cast<int>(threadIdx.y);
  const int j = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * kSide;
  const int first_column = static_cast<int>(blockIdx.x) * kSide;

  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = load_four(x, R, C, first_row + 4 * i + k, first_column + 4 * j, C % 4 == 0);
  tile[swizzled(4 * j, i)] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
  tile[swizzled(4 * j + 1, i)] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
  tile[swizzled(4 * j + 2, i)] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
  tile[swizzled(4 * j + 3, i)] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
  __syncthreads();  // the tile is complete before anyone reads it
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int row = i + k * kQuads;
    store_four(y, C, R, first_column + row, first_row + 4 * j, R % 4 == 0, tile[swizzled(row, j)]);
  }
}

extern "C" void solve(const float* x, float* y, int R, int C) {
  const dim3 blocks((C - 1) / kSide + 1, (R - 1) / kSide + 1);
  transpose<<<blocks, dim3(kQuads, kQuads)>>>(x, y, R, C);
}
