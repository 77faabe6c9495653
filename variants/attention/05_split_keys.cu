// @title Keys split over blocks
// @hypothesis Several blocks share the keys of 64 queries, until every multiprocessor has work; a second kernel merges.
//
// Eight heads of 256 queries are 32 blocks of the stage below, and a GPU has 100 multiprocessors or more. Here the keys
// of a tile of queries are split into parts, as many as it takes to give each multiprocessor two blocks, but none of
// less than 64 keys. A block stores what it has: sums, the largest score, and the sum of the weights relative to that.
// A second kernel merges the parts of a query as tiles of keys were merged before: each counts e^(largest of the part -
// largest of all). That relieves nothing that is counted, it makes more warps that hide each other's latency.
//
// When it loses: where there are enough blocks anyway; then there is one part, and this is the stage below. The parts
// are written to memory and read again, D + 2 floats for each query and part, and a second kernel has to be started.
#include <cstdio>
#include <cstdlib>

#include "query_tile.cuh"

using namespace query_tile;

/// The partial results for each part of the keys and each of the `rows` queries of all heads.
struct Parts {
  float* sums;     ///< parts x rows x D, relative to the largest score of the part
  float* largest;  ///< parts x rows
  float* totals;   ///< parts x rows
  std::size_t rows;
  int count;
  int keys;  ///< keys of a part
};

template <int columns, bool vectors>
__global__ void __launch_bounds__(threads) attend_to_part(Problem p, Parts parts) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared<columns* 32>& shared = *reinterpret_cast<Shared<columns * 32>*>(memory);
  const int member = static_cast<int>(threadIdx.x) % sharers;
  const int query = static_cast<int>(threadIdx.x) / sharers * 4;  // the first of four
  const std::size_t first_row = static_cast<std::size_t>(blockIdx.y) * p.S;
  const std::size_t head = first_row * p.D;
  const int first_query = static_cast<int>(blockIdx.x) * queries;
  const int first_key = static_cast<int>(blockIdx.z) * parts.keys;
  const int last_key = min(p.S, first_key + parts.keys);

  copy_turned<queries, columns * 32, threads, vectors>(shared.q, query_pitch, p.q + head, p, first_query, p.scale);
  QueryTile<columns> tile;
  tile.template add_keys<vectors>(shared, p, p.k + head, p.v + head, query, member, first_key, last_key);
  const std::size_t part_row = blockIdx.z * parts.rows + first_row;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int of_head = first_query + query + i;
    const float factor = parts.count == 1 ? 1.0F / tile.totals[i] : 1.0F;
#pragma unroll
    for (int n = 0; n < columns; ++n) {
      store_four<vectors>(parts.sums + part_row * p.D, p, of_head, n * 32 + member * 4, tile.sums[i][n], factor);
    }
    if (parts.count > 1 && member == 0 && of_head < p.S) {
      parts.largest[part_row + of_head] = tile.largest[i];
      parts.totals[part_row + of_head] = tile.totals[i];
    }
  }
}

/// Merges the parts, with a thread for each element of the output.
__global__ void merge_parts(Parts parts, float* out, int D) {
  const std::size_t element = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t row = element / D;
  if (row >= parts.rows) return;
  float largest = -INFINITY;
  for (int n = 0; n < parts.count; ++n) largest = fmaxf(largest, parts.largest[n * parts.rows + row]);
  float total = 0.0F;
  float sum = 0.0F;
  for (int n = 0; n < parts.count; ++n) {
    const float factor = expf(parts.largest[n * parts.rows + row] - largest);
    total += parts.totals[n * parts.rows + row] * factor;
    sum += parts.sums[n * parts.rows * D + element] * factor;
  }
  out[element] = sum / total;
}

namespace {

/// Memory for the parts, which grows but never shrinks.
float* parts_memory(std::size_t count) {
  static float* memory = nullptr;
  static std::size_t size = 0;
  if (count <= size) return memory;
  cudaFree(memory);
  memory = nullptr;
  size = 0;
  const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&memory), count * sizeof(float));
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%zu floats for parts: %s\n", count, cudaGetErrorString(error));
    std::abort();
  }
  size = count;
  return memory;
}

int multiprocessors() {
  int device = 0;
  int count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

/// How the keys are split, and where the parts go: if there is only one, straight to the output.
Parts parts_of(const Problem& p, int H) {
  static const int wanted_blocks = 2 * multiprocessors();
  const int blocks = (p.S + queries - 1) / queries * H;
  const int most = (p.S + 2 * keys - 1) / (2 * keys);
  const int wanted = wanted_blocks / blocks < 1 ? 1 : wanted_blocks / blocks > most ? most : wanted_blocks / blocks;
  Parts parts{};
  parts.keys = ((p.S + wanted - 1) / wanted + keys - 1) / keys * keys;
  parts.count = (p.S + parts.keys - 1) / parts.keys;
  parts.rows = static_cast<std::size_t>(H) * p.S;
  parts.sums = p.out;
  if (parts.count == 1) return parts;
  const std::size_t all = parts.count * parts.rows;
  parts.sums = parts_memory(all * (p.D + 2));
  parts.largest = parts.sums + all * p.D;
  parts.totals = parts.largest + all;
  return parts;
}

template <int columns, bool vectors>
void launch(const Problem& p, int H) {
  constexpr int bytes = static_cast<int>(sizeof(Shared<columns * 32>));
  const auto kernel = attend_to_part<columns, vectors>;
  // More than 48 KiB for a block has to be asked for.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const Parts parts = parts_of(p, H);
  kernel<<<dim3((p.S + queries - 1) / queries, H, parts.count), threads, bytes>>>(p, parts);
  if (parts.count == 1) return;
  merge_parts<<<static_cast<unsigned>((parts.rows * p.D + 127) / 128), 128>>>(parts, p.out, p.D);
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
