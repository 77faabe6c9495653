// @title Mean and variance in one pass
// @hypothesis a row is read twice and not three times, and a single barrier is left
// @parameter THREADS 256 128 512
//
// Against the stage below, mean and variance come from one pass (Welford): a thread keeps the mean of what it has seen
// and the sum of the squares of the differences to it, and a new element moves both. Two such pairs are combined by the
// same rule (Chan), first within a warp, then between the warps. Nothing large is subtracted from something large, as
// it is in the mean of the squares less the square of the mean, so no digits are lost. That relieves the loads, by a
// third, and saves three barriers of four.
//
// When it loses: a division for each element, and it sits in the chain from one element to the next. A row that is
// still in the L1 is read again at little cost, and arithmetic was not for free: then this stage is slower than the one
// below.
#ifndef THREADS
#define THREADS 256
#endif
constexpr int kWarps = THREADS / 32;

/// Mean and sum of squares of some elements.
struct Moments {
  float count = 0;
  float mean = 0;
  float squares = 0;  ///< the sum of (x - mean)^2
};

__device__ void add(Moments& to, float element) {
  to.count += 1;
  const float difference = element - to.mean;
  to.mean += difference / to.count;
  to.squares += difference * (element - to.mean);
}

__device__ Moments combined(const Moments& a, const Moments& b) {
  const float count = a.count + b.count;
  if (count == 0) return a;
  const float part = b.count / count;
  const float difference = b.mean - a.mean;
  return {count, a.mean + difference * part, a.squares + b.squares + difference * difference * a.count * part};
}

__device__ Moments of_warp(Moments all) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Moments other{__shfl_xor_sync(0xffffffff, all.count, distance),
                        __shfl_xor_sync(0xffffffff, all.mean, distance),
                        __shfl_xor_sync(0xffffffff, all.squares, distance)};
    all = combined(all, other);
  }
  return all;
}

__global__ void normalize(const float* x, const float* gain, const float* bias, float* y, float epsilon, int C) {
  __shared__ Moments of[kWarps];
  x += static_cast<size_t>(blockIdx.x) * C;
  y += static_cast<size_t>(blockIdx.x) * C;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;

  Moments row;
  for (int c = thread; c < C; c += THREADS) add(row, x[c]);
  row = of_warp(row);
  if (lane == 0) of[warp] = row;
  __syncthreads();
  row = of_warp(lane < kWarps ? of[lane] : Moments{});
  const float factor = 1 / sqrtf(row.squares / static_cast<float>(C) + epsilon);
  for (int c = thread; c < C; c += THREADS) y[c] = (x[c] - row.mean) * factor * gain[c] + bias[c];
}

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  normalize<<<R, THREADS>>>(x, gain, bias, y, epsilon, C);
}
