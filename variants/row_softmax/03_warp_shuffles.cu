// @title Shuffles within warps
// @hypothesis a reduction takes two barriers instead of ten, and a third of the ways through shared memory
// @parameter THREADS 256 128 512
//
// Against the stage below, the threads of a warp exchange their values directly, from register to register: with the
// thread 16 further, then 8, 4, 2 and 1, after which all 32 have the result. Shared memory only carries one value for
// each warp, and every warp combines those on its own in the same way. That relieves shared memory and above all the
// barriers, at which a whole block waits for its last warp.
//
// When it loses: all threads take part in all steps, so more instructions are issued than before, when half of the
// warps had nothing to do after each step. Long rows have so many elements for each reduction that neither shows.
#ifndef THREADS
#define THREADS 256
#endif
constexpr int kWarps = THREADS / 32;

/// Combines the values of a warp's threads with `combine`; every thread gets the result.
template <typename Combine>
__device__ float of_warp(float value, Combine combine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  return value;
}

/// Combines the values of the block's threads; every thread gets the result. `neutral` changes nothing when it is
/// combined.
template <typename Combine>
__device__ float of_block(float value, float neutral, Combine combine) {
  __shared__ float shared[kWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  value = of_warp(value, combine);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = of_warp(lane < kWarps ? shared[lane] : neutral, combine);
  __syncthreads();  // everyone has read before the next reduction writes there
  return value;
}

__global__ void softmax(const float* x, float* y, int C) {
  x += static_cast<size_t>(blockIdx.x) * C;
  y += static_cast<size_t>(blockIdx.x) * C;
  const int thread = static_cast<int>(threadIdx.x);

  float largest = -INFINITY;
  for (int c = thread; c < C; c += THREADS) largest = fmaxf(largest, x[c]);
  largest = of_block(largest, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int c = thread; c < C; c += THREADS) sum += expf(x[c] - largest);
  sum = of_block(sum, 0, [](float a, float b) { return a + b; });
  for (int c = thread; c < C; c += THREADS) y[c] = expf(x[c] - largest) / sum;
}

extern "C" void solve(const float* x, float* y, int R, int C) { softmax<<<R, THREADS>>>(x, y, C); }
