// @title Shuffles within warps
// @hypothesis a sum takes two barriers instead of ten, and a third of the ways through shared memory
// @parameter THREADS 256 128 512
//
// Against the stage below, the threads of a warp exchange their values directly, from register to register: with the
// thread 16 further, then 8, 4, 2 and 1, after which all 32 have the sum. Shared memory only carries one value for each
// warp, and every warp adds those up on its own in the same way. That relieves shared memory and above all the
// barriers, at which a whole block waits for its last warp.
//
// When it loses: all threads take part in all steps, so more instructions are issued than before, when half of the
// warps had nothing to do after each step. Long rows have so many elements for each sum that neither shows.
#ifndef THREADS
#define THREADS 256
#endif
constexpr int kWarps = THREADS / 32;

__device__ float sum_of_warp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
  return value;
}

/// The sum of the values of all threads; every thread gets it.
__device__ float sum_of_block(float value) {
  __shared__ float shared[kWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  value = sum_of_warp(value);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = sum_of_warp(lane < kWarps ? shared[lane] : 0);
  __syncthreads();  // everyone has read before the next sum is put there
  return value;
}

__global__ void normalize(const float* x, const float* gain, const float* bias, float* y, float epsilon, int C) {
  x += static_cast<size_t>(blockIdx.x) * C;
  y += static_cast<size_t>(blockIdx.x) * C;
  const int thread = static_cast<int>(threadIdx.x);

  float sum = 0;
  for (int c = thread; c < C; c += THREADS) sum += x[c];
  const float mean = sum_of_block(sum) / static_cast<float>(C);
  float squares = 0;
  for (int c = thread; c < C; c += THREADS) squares += (x[c] - mean) * (x[c] - mean);
  const float factor = 1 / sqrtf(sum_of_block(squares) / static_cast<float>(C) + epsilon);
  for (int c = thread; c < C; c += THREADS) y[c] = (x[c] - mean) * factor * gain[c] + bias[c];
}

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  normalize<<<R, THREADS>>>(x, gain, bias, y, epsilon, C);
}
