// @title 64 queries, register tiles
// @hypothesis A key serves 64 queries, and 16 products of a thread need two 128-bit loads from shared memory.
//
// Two products of matrices with the softmax between them, both with register tiles. A block of 128 threads takes 64
// queries and walks over the keys in tiles of 32. For the scores a thread has 4 queries x 4 keys: queries and keys lie
// transposed in shared memory, and each step along D is two vectors of four for 16 multiply-adds. The eight threads
// that share a query are neighbours in a warp, so its largest score is three shuffles away. The weights go through
// shared memory to where they are needed as factors of the second product: 4 queries x D / 8 columns for each thread,
// which stay in registers over all keys. Against the stage below k and v come from the L2 once for 64 queries instead
// of 8, and a multiply-add takes an eighth of a load from shared memory instead of more than one. That relieves shared
// memory and the issue slots; the arithmetic sets the pace.
//
// When it loses: with few queries. A head of 256 has four blocks, and a GPU of 132 multiprocessors waits for more.
// Between its barriers a block has nothing on its way from memory. Heads with a D that is not 32, 64, 96 or 128 are
// padded to the next of these.
#include "query_tile.cuh"

using namespace query_tile;

template <int columns, bool vectors>
__global__ void __launch_bounds__(threads) attend_query_tile(Problem p) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<columns* 32>& shared = *reinterpret_cast<Shared<columns * 32>*>(memory);
  const int member = static_cast<int>(threadIdx.x) % sharers;
  const int query = static_cast<int>(threadIdx.x) / sharers * 4;  // the first of four
  const std::size_t head = static_cast<std::size_t>(blockIdx.y) * p.S * p.D;
  const int first_query = static_cast<int>(blockIdx.x) * queries;

  copy_turned<queries, columns * 32, threads, vectors>(shared.q, query_pitch, p.q + head, p, first_query, p.scale);
  QueryTile<columns> tile;
  tile.template add_keys<vectors>(shared, p, p.k + head, p.v + head, query, member, 0, p.S);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int n = 0; n < columns; ++n) {
      store_four<vectors>(p.out + head, p, first_query + query + i, n * 32 + member * 4, tile.sums[i][n],
                          1.0F / tile.totals[i]);
    }
  }
}

namespace {

template <int columns, bool vectors>
void launch(const Problem& p, int H) {
  constexpr int bytes = static_cast<int>(sizeof(Shared<columns * 32>));
  const auto kernel = attend_query_tile<columns, vectors>;
  // More than 48 KiB for a block has to be asked for.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<dim3((p.S + queries - 1) / queries, H), threads, bytes>>>(p);
}

template <bool vectors>
void launch(const Problem& p, int H) {
  switch ((p.D + 31) / 32) {
    case 1:
      return launch<1, vectors>(p, H);
    case 2:
      return launch<2, vectors>(p, H);
    case 3:
      return launch<3, vectors>(p, H);
    default:
      return launch<4, vectors>(p, H);
  }
}

}  // namespace

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  const Problem problem{q, k, v, out, scale, S, D};
  has_vectors(problem) ? launch<true>(problem, H) : launch<false>(problem, H);
}
