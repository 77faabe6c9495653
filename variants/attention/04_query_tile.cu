// @title 64 queries, register tiles
// @hypothesis A key serves 64 queries, and 16 products of a thread need two 128-bit loads from shared memory.
//
// Two products of matrices with the softmax between them, both with register tiles. A block of 128 threads takes 64
// queries and walks over the keys in tiles of 32. For the scores a thread has 4 queries x 4 keys: queries and keys lie
// turned round in shared memory, and each step along D is two vectors of four for 16 multiply-adds. The eight threads
// that share a query are neighbours in a warp, so its largest score is three shuffles away. The weights go through
// shared memory to where they are needed as factors of the second product: 4 queries x D / 8 columns for each thread,
// which stay in registers over all keys. Against the stage below k and v come from the L2 once for 64 queries instead
// of 8, and a multiply-add takes an eighth of a load from shared memory instead of more than one. That relieves
// shared memory and the issue slots; the arithmetic sets the pace.
//
// When it loses: with few queries. A head of 256 has four blocks, and a GPU of 132 multiprocessors waits for more.
// Between its barriers a block has nothing on its way from memory. Heads with a D that is not 32, 64, 96 or 128 are
// padded to the next of these.
#include "query_tile.cuh"

using namespace query_tile;

constexpr int queries = 64;  // of a block
constexpr int keys = 32;     // of a tile
constexpr int threads = 128;
constexpr int sharers = 8;  // threads that share a query
constexpr int query_pitch = queries + 4;
constexpr int key_pitch = keys + 4;

/// In shared memory. Keys and values of a tile are there one after the other.
template <int width>
struct Shared {
  float q[width * query_pitch];  ///< turned round and multiplied by the scale
  union {
    float k[width * key_pitch];  ///< turned round
    float v[keys * width];
  };
  float weights[keys * query_pitch];
};

template <int columns, bool vectors>
__global__ void __launch_bounds__(threads) attend_query_tile(Problem p) {
  constexpr int width = columns * 32;
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<width>& shared = *reinterpret_cast<Shared<width>*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int member = thread % sharers;
  const int query = thread / sharers * 4;  // the first of four
  const std::size_t head = static_cast<std::size_t>(blockIdx.y) * p.S * p.D;
  const int first_query = static_cast<int>(blockIdx.x) * queries;

  copy_turned<queries, width, threads, vectors>(shared.q, query_pitch, p.q + head, p, first_query, p.scale);
  float largest[4];
  float totals[4] = {};
  float sums[4][columns][4] = {};
#pragma unroll
  for (float& one : largest) one = -INFINITY;

  for (int first = 0; first < p.S; first += keys) {
    __syncthreads();  // everyone is done with the values before
    copy_turned<keys, width, threads, vectors>(shared.k, key_pitch, p.k + head, p, first, 1.0F);
    __syncthreads();  // queries and keys are complete
    float scores[4][4] = {};
#pragma unroll 8
    for (int d = 0; d < width; ++d) {
      float of_queries[4];
      float of_keys[4];
      load_vector(of_queries, shared.q + d * query_pitch + query);
      load_vector(of_keys, shared.k + d * key_pitch + member * 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) scores[i][j] += of_queries[i] * of_keys[j];
      }
    }
    __syncthreads();  // everyone is done with the keys
    copy_rows<keys, width, threads, vectors>(shared.v, p.v + head, p, first);

#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float tile_largest = largest[i];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (first + member * 4 + j >= p.S) scores[i][j] = -INFINITY;
        tile_largest = fmaxf(tile_largest, scores[i][j]);
      }
#pragma unroll
      for (int step = sharers / 2; step > 0; step /= 2) {
        tile_largest = fmaxf(tile_largest, __shfl_xor_sync(0xFFFFFFFF, tile_largest, step));
      }
      const float factor = expf(largest[i] - tile_largest);
      largest[i] = tile_largest;
      totals[i] *= factor;
#pragma unroll
      for (int n = 0; n < columns; ++n) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][n][j] *= factor;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float weight = expf(scores[i][j] - tile_largest);
        totals[i] += weight;  // of this thread's keys
        scores[i][j] = weight;
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      *reinterpret_cast<float4*>(shared.weights + (member * 4 + j) * query_pitch + query) =
          make_float4(scores[0][j], scores[1][j], scores[2][j], scores[3][j]);
    }
    __syncthreads();  // weights and values are complete
#pragma unroll 8
    for (int key = 0; key < keys; ++key) {
      float weights[4];
      load_vector(weights, shared.weights + key * query_pitch + query);
#pragma unroll
      for (int n = 0; n < columns; ++n) {
        float values[4];
        load_vector(values, shared.v + key * width + n * 32 + member * 4);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[i][n][j] += weights[i] * values[j];
        }
      }
    }
  }

#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int step = sharers / 2; step > 0; step /= 2) totals[i] += __shfl_xor_sync(0xFFFFFFFF, totals[i], step);
#pragma unroll
    for (int n = 0; n < columns; ++n) {
      store_four<vectors>(p.out + head, p, first_query + query + i, n * 32 + member * 4, sums[i][n], 1.0F / totals[i]);
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
