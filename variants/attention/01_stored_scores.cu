// @title Three kernels, scores in memory
// @hypothesis S * S scores are written once and read three times: the path to the L2 sets the pace.
//
// The definition in three kernels: a thread for each score, q . k along a row of q and a row of k; a thread for each
// row of scores, which makes weights of it; a thread for each output, which adds up a column of v with the weights of
// a row. Scores lie in memory that is kept from call to call.
//
// What it costs: the scores are S / D times as much data as q, k, v and the output together, and go from kernel to
// kernel through the L2 or DRAM. Neighbouring threads of the first kernel read rows of k that are D floats apart, those
// of the second rows of scores that are S floats apart: a sector for each float. It never wins; everything above is
// compared with it.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

__global__ void scores_of_keys(const float* q, const float* k, float* scores, float scale, int S, int D) {
  const int key = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int query = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (key >= S || query >= S) return;
  const std::size_t head = blockIdx.z;
  const float* const q_row = q + (head * S + query) * D;
  const float* const k_row = k + (head * S + key) * D;
  float product = 0.0F;
  for (int d = 0; d < D; ++d) product += q_row[d] * k_row[d];
  scores[(head * S + query) * S + key] = scale * product;
}

__global__ void weights_of_rows(float* scores, std::size_t rows, int S) {
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float* const of_row = scores + row * S;
  float largest = of_row[0];
  for (int j = 1; j < S; ++j) largest = fmaxf(largest, of_row[j]);
  float sum = 0.0F;
  for (int j = 0; j < S; ++j) {
    const float weight = expf(of_row[j] - largest);
    of_row[j] = weight;
    sum += weight;
  }
  for (int j = 0; j < S; ++j) of_row[j] /= sum;
}

__global__ void sums_of_values(const float* weights, const float* v, float* out, int S, int D) {
  const int d = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int query = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (d >= D || query >= S) return;
  const std::size_t head = blockIdx.z;
  const float* const row = weights + (head * S + query) * S;
  float sum = 0.0F;
  for (int j = 0; j < S; ++j) sum += row[j] * v[(head * S + j) * D + d];
  out[(head * S + query) * D + d] = sum;
}

namespace {

/// Memory for the scores, which grows but never shrinks.
float* scores_memory(std::size_t count) {
  static float* memory = nullptr;
  static std::size_t size = 0;
  if (count <= size) return memory;
  cudaFree(memory);
  memory = nullptr;
  size = 0;
  const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&memory), count * sizeof(float));
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%zu scores: %s\n", count, cudaGetErrorString(error));
    std::abort();
  }
  size = count;
  return memory;
}

}  // namespace

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  const std::size_t rows = static_cast<std::size_t>(H) * S;
  float* const scores = scores_memory(rows * S);
  const dim3 block(32, 8);
  scores_of_keys<<<dim3((S + 31) / 32, (S + 7) / 8, H), block>>>(q, k, scores, scale, S, D);
  weights_of_rows<<<static_cast<unsigned>((rows + 63) / 64), 64>>>(scores, rows, S);
  sums_of_values<<<dim3((D + 31) / 32, (S + 7) / 8, H), block>>>(scores, v, out, S, D);
}
