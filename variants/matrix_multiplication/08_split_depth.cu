// @title The depth split over blocks
// @hypothesis Several blocks share the depth of one tile of C, until every multiprocessor has work; a second kernel
// adds.
// @parameter TILE 128 64
//
// A product of 512 x 512 has 16 tiles of 128 x 128, and a GPU has 100 multiprocessors or more. Here the depth of a tile
// is split into parts, as many as it takes to give each multiprocessor a block, but none of less than 64 steps along
// the depth. Each block does to its part what the stage below does to all of it and stores its sums in memory; a second
// kernel adds up the parts of each element, always in the same order, so that the result is the same in every run.
// That relieves nothing that is counted: it puts the other multiprocessors to work.
//
// When it loses: where there are enough tiles anyway there is one part, and this is the stage below. Each part writes
// M * N floats that are read again, and a second kernel has to be started: for a small depth that costs more than it
// brings.
#include <cstdio>
#include <cstdlib>

#include "vector_tiles.cuh"

#ifndef TILE
#define TILE 128
#endif

using namespace vector_tiles;

constexpr int depth = 8;          // depth of a step
constexpr int least_depth = 64;   // the least depth of a part
constexpr int across = TILE / 8;  // threads in a row of the tile
constexpr int threads = across * across;

/// Computes the parts: p.c has a matrix for each of them.
template <bool vectors>
__global__ void __launch_bounds__(threads) multiply_part(Problem p, int part_depth) {
  __shared__ __align__(16) DoubleBuffer<TILE, depth, threads, vectors> buffer;
  const int first_row = static_cast<int>(blockIdx.y) * TILE;
  const int first_column = static_cast<int>(blockIdx.x) * TILE;
  const int first = static_cast<int>(blockIdx.z) * part_depth;
  Sums<TILE / 2, TILE / 2> sums;
  buffer.add(p, first_row, first_column, first, min(p.K, first + part_depth), sums);
  p.c += static_cast<std::size_t>(blockIdx.z) * p.M * p.N;
  const int thread = static_cast<int>(threadIdx.x);
  sums.template store<vectors>(p, first_row + thread / across * 4, first_column + thread % across * 4);
}

__global__ void add_parts(const float* parts, float* c, std::size_t elements, int count) {
  const std::size_t element = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (element >= elements) return;
  float sum = parts[element];
  for (int n = 1; n < count; ++n) sum += parts[n * elements + element];
  c[element] = sum;
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

int rounded_up_quotient(int dividend, int divisor) { return (dividend + divisor - 1) / divisor; }

/// The depth of each part: a multiple of a step's.
int depth_of_parts(int tiles, int K) {
  static const int blocks = multiprocessors();
  int parts = blocks / tiles;
  if (parts > K / least_depth) parts = K / least_depth;
  if (parts < 1) parts = 1;
  return rounded_up_quotient(rounded_up_quotient(K, parts), depth) * depth;
}

}  // namespace

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  const int columns = rounded_up_quotient(N, TILE);
  const int rows = rounded_up_quotient(M, TILE);
  const int part_depth = depth_of_parts(columns * rows, K);
  const int parts = rounded_up_quotient(K, part_depth);
  const std::size_t elements = static_cast<std::size_t>(M) * N;
  const Problem problem{a, b, parts == 1 ? c : parts_memory(parts * elements), M, N, K};
  const dim3 grid(columns, rows, parts);
  if (has_vectors(problem)) {
    multiply_part<true><<<grid, threads>>>(problem, part_depth);
  } else {
    multiply_part<false><<<grid, threads>>>(problem, part_depth);
  }
  if (parts == 1) return;
  add_parts<<<static_cast<unsigned>((elements + 255) / 256), 256>>>(problem.c, c, elements, parts);
}
