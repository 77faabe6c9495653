// @title Largest element and sum in one pass
// @hypothesis a row is read twice and not three times, and reduced once
// @parameter THREADS 256 128 512
//
// Against the stage below, a thread keeps the largest element that it has seen and the sum of the exponentials of what
// it has seen, relative to that one. When a larger one comes, the sum is scaled down to it (the "online" softmax). Then
// a warp agrees on the largest element, each thread scales its sum down to that one, and the sums are added; a single
// barrier later the same is done with one pair for each warp. That relieves the loads, by a third, and saves three
// barriers of four.
//
// When it loses: a row that is still in the L1 is read again at little cost, while each element takes more arithmetic
// than before, and the exponential sits in the chain from one element to the next now: a thread with many waits for it.
#ifndef THREADS
#define THREADS 256
#endif
constexpr int kWarps = THREADS / 32;
constexpr float kNothing = -3.4e38F;  // not -INFINITY: the difference of two infinities is NaN

/// The sum of exp(x - largest) over some elements.
struct Sum {
  float largest = kNothing;
  float sum = 0;
};

/// Adds `element` to the sum. Of the two exponentials, one is always of 0.
__device__ Sum with(Sum a, float element) {
  const float factor = expf(-fabsf(element - a.largest));
  if (element > a.largest) return {element, a.sum * factor + 1};
  return {a.largest, a.sum + factor};
}

/// The sum over all elements of a warp's threads; every thread gets it.
__device__ Sum of_warp(Sum own) {
  Sum all{own.largest, 0};
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    all.largest = fmaxf(all.largest, __shfl_xor_sync(0xffffffff, all.largest, distance));
  }
  all.sum = own.sum * expf(own.largest - all.largest);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) all.sum += __shfl_xor_sync(0xffffffff, all.sum, distance);
  return all;
}

__global__ void softmax(const float* x, float* y, int C) {
  __shared__ float largest_of[kWarps];
  __shared__ float sum_of[kWarps];
  x += static_cast<size_t>(blockIdx.x) * C;
  y += static_cast<size_t>(blockIdx.x) * C;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;

  Sum row;
  for (int c = thread; c < C; c += THREADS) row = with(row, x[c]);
  row = of_warp(row);
  if (lane == 0) {
    largest_of[warp] = row.largest;
    sum_of[warp] = row.sum;
  }
  __syncthreads();
  row = of_warp(lane < kWarps ? Sum{largest_of[lane], sum_of[lane]} : Sum{});
  for (int c = thread; c < C; c += THREADS) y[c] = expf(x[c] - row.largest) / row.sum;
}

extern "C" void solve(const float* x, float* y, int R, int C) { softmax<<<R, THREADS>>>(x, y, C); }
