// @title A block for each query, scores in shared memory
// @hypothesis No score leaves the multiprocessor: what is read and written is q, k, v and the output.
// @requires S <= 8192
//
// One kernel. A block of four warps takes one query; its S scores stay in shared memory. A warp takes one key at a
// time, its lanes go along the row of k side by side, and a shuffle adds up what they have; then all threads find the
// largest score and the sum, and at last the threads take a column of v each and go down it with the weights. Against
// the stage below the scores cost no access to the L2 at all, and every load of k, v and q is whole sectors. That
// relieves the path to the L2.
//
// When it loses: for each query all of k and v of the head pass by; S queries ask the L2 for them S times. Five
// shuffles for the product with a single key are as many instructions as the product itself, so that a stage that moves
// far less issues more instructions than the one below. And the scores have to fit: 8192 keys are 32 KiB.
#include <cmath>
#include <cstddef>

constexpr int warps = 4;
constexpr int threads = warps * 32;
constexpr int most_columns = 4;  // columns of a lane, for the largest D of 128

/// Adds up the values of all threads or takes the largest of them; `parts` has a place for each warp.
template <typename Combine>
__device__ float over_block(float value, float* parts, const Combine& combine) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(0xFFFFFFFF, value, step));
  __syncthreads();  // the previous contents of `parts` have been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();  // all parts are there
  value = parts[0];
#pragma unroll
  for (int warp = 1; warp < warps; ++warp) value = combine(value, parts[warp]);
  return value;
}

/// Dynamic shared memory: the S scores.
__global__ void __launch_bounds__(threads)
    attend_block_row(const float* q, const float* k, const float* v, float* out, float scale, int S, int D) {
  extern __shared__ float scores[];
  __shared__ float parts[warps];
  __shared__ float sums[threads];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const std::size_t head = blockIdx.y;
  const std::size_t query = head * S + blockIdx.x;
  k += head * S * D;
  v += head * S * D;

  float of_query[most_columns];
#pragma unroll
  for (int n = 0; n < most_columns; ++n) of_query[n] = lane + n * 32 < D ? q[query * D + lane + n * 32] : 0.0F;
  float largest = -INFINITY;
  for (int key = thread / 32; key < S; key += warps) {
    const float* const row = k + static_cast<std::size_t>(key) * D;
    float product = 0.0F;
#pragma unroll
    for (int n = 0; n < most_columns; ++n) {
      if (lane + n * 32 < D) product += of_query[n] * row[lane + n * 32];
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) product += __shfl_xor_sync(0xFFFFFFFF, product, step);
    if (lane == 0) scores[key] = scale * product;
    largest = fmaxf(largest, scale * product);
  }
  largest = over_block(largest, parts, [](float a, float b) { return fmaxf(a, b); });

  float sum = 0.0F;
  for (int key = thread; key < S; key += threads) {
    const float weight = expf(scores[key] - largest);
    scores[key] = weight;
    sum += weight;
  }
  sum = over_block(sum, parts, [](float a, float b) { return a + b; });

  // With few columns several threads share a column, and each takes every n-th key.
  const int width = D > 64 ? 128 : D > 32 ? 64 : 32;
  const int column = thread % width;
  const int sharers = threads / width;
  float value = 0.0F;
  if (column < D) {
    for (int key = thread / width; key < S; key += sharers) {
      value += scores[key] * v[static_cast<std::size_t>(key) * D + column];
    }
  }
  sums[thread] = value;
  __syncthreads();  // all shares are there
  if (thread >= D) return;
  for (int sharer = 1; sharer < sharers; ++sharer) value += sums[sharer * width + thread];
  out[query * D + thread] = value / sum;
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int H, int S, int D) {
  const std::size_t bytes = static_cast<std::size_t>(S) * sizeof(float);
  attend_block_row<<<dim3(S, H), threads, bytes>>>(q, k, v, out, scale, S, D);
}
