// Blelloch's scan of 1024 numbers in shared memory. The stages 02 to 04 share it.
#pragma once

#include <cstdint>

constexpr int kTreeThreads = 512;
constexpr int kTreeTile = 2 * kTreeThreads;  // numbers that a block scans at a time

/// Number i lies at place i: strides of powers of two meet in few banks.
struct PlainPlaces {
  static constexpr int size = kTreeTile;
  __device__ static int of(int i) { return i; }
};

/// Number i lies at place i + i / 32: one place is left free behind every 32.
struct PaddedPlaces {
  static constexpr int size = kTreeTile + kTreeTile / 32;
  __device__ static int of(int i) { return i + i / 32; }
};

/// Replaces each of the 1024 numbers in shared memory by the sum of those before it, and returns the sum of all. Up the
/// tree: pairs are summed, then pairs of pairs. Down again: each node hands the left child what lies before itself, and
/// the right child that and the left one's sum. The caller has stored the numbers; it finds the results behind a
/// barrier.
template <typename Places>
__device__ int32_t tree_scan(int32_t* shared) {
  const int thread = threadIdx.x;
  __shared__ int32_t total;
#pragma unroll 1
  for (int step = 1; step < kTreeTile; step *= 2) {
    __syncthreads();
    const int right = (2 * thread + 2) * step - 1;
    if (right < kTreeTile) shared[Places::of(right)] += shared[Places::of(right - step)];
  }
  if (thread == 0) {  // the thread that has written it
    total = shared[Places::of(kTreeTile - 1)];
    shared[Places::of(kTreeTile - 1)] = 0;
  }
#pragma unroll 1
  for (int step = kTreeTile / 2; step > 0; step /= 2) {
    __syncthreads();
    const int right = (2 * thread + 2) * step - 1;
    if (right >= kTreeTile) continue;
    const int32_t left = shared[Places::of(right - step)];
    shared[Places::of(right - step)] = shared[Places::of(right)];
    shared[Places::of(right)] += left;
  }
  __syncthreads();
  return total;
}

/// Scans the numbers from `begin` on, as far as there are some, onto `before`. Returns their sum.
template <typename Places>
__device__ int32_t scan_tree_tile(const int32_t* x, int32_t* y, int n, int begin, int32_t before) {
  __shared__ int32_t shared[Places::size];
  const int first = begin + static_cast<int>(threadIdx.x);
  const int second = first + kTreeThreads;
  const int32_t x_first = first < n ? x[first] : 0;
  const int32_t x_second = second < n ? x[second] : 0;
  __syncthreads();  // everyone has read the previous tile
  shared[Places::of(threadIdx.x)] = x_first;
  shared[Places::of(threadIdx.x + kTreeThreads)] = x_second;
  const int32_t total = tree_scan<Places>(shared);
  // The tree leaves the sum before each number: with the number added, it is the sum up to it.
  if (first < n) y[first] = before + shared[Places::of(threadIdx.x)] + x_first;
  if (second < n) y[second] = before + shared[Places::of(threadIdx.x + kTreeThreads)] + x_second;
  return total;
}

/// Scans all numbers with one block, a tile at a time, and carries the sum.
template <typename Places>
__device__ void scan_tree_tiles(const int32_t* x, int32_t* y, int n) {
  int32_t carry = 0;
  for (int begin = 0; begin < n; begin += kTreeTile) carry += scan_tree_tile<Places>(x, y, n, begin, carry);
}
