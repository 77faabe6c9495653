// @title Counts in global memory
// @hypothesis the baseline: every key is an atomic addition in the L2, and keys of the same bin wait for each other
// there
//
// A thread for each key adds one to its bin. Since many threads do so at once, the addition is atomic: it is carried
// out where all multiprocessors meet, in the L2. Additions to the same bin go one after the other.
//
// What it costs: a request to the L2 for each key, where the key itself takes two bytes. The fewer bins there are, the
// longer their queues. It never wins where there are some thousand keys.
#include "device_bins.hpp"

constexpr int kThreads = 256;

__global__ void global_atomics(const uint16_t* keys, uint32_t* counts, int n, int bins) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&counts[bin_of(keys[i], bins)], 1U);
}

extern "C" void solve(const uint16_t* keys, uint32_t* counts, int N, int B) {
  cudaMemsetAsync(counts, 0, sizeof(uint32_t) * B);
  global_atomics<<<quotient(N, kThreads), kThreads>>>(keys, counts, N, B);
}
