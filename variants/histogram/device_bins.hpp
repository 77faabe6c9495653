// The bin of a key, the size of a grid, and a thread's walk through its keys. The CUDA stages share them.
#pragma once

#include <cstdint>

__device__ inline unsigned bin_of(unsigned key, unsigned bins) { return key * bins >> 16; }

/// The quotient, rounded up.
inline int quotient(int numerator, int denominator) { return (numerator - 1) / denominator + 1; }

/// Blocks for n keys: one for each `share` of them, but no more than the GPU holds at once.
inline int blocks_at_once(int n, int share, int threads) {
  static const int multiprocessors = [] {
    int device = 0;
    int count = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count > 0 ? count : 1;
  }();
  constexpr int kThreadsAtOnce = 2048;  // threads of a multiprocessor
  const int most = multiprocessors * (kThreadsAtOnce / threads);
  const int blocks = quotient(n, share);
  return blocks < most ? blocks : most;
}

/// The part of the keys that can be loaded in vectors of eight, which begin at multiples of 16 bytes.
struct KeyVectors {
  __device__ KeyVectors(const uint16_t* keys, int n) {
    const int misplaced = static_cast<int>(reinterpret_cast<std::uintptr_t>(keys) / sizeof(uint16_t) % 8);
    before = min(n, (8 - misplaced) % 8);
    count = (n - before) / 8;
    behind = before + 8 * count;
    eights = reinterpret_cast<const uint4*>(keys + before);
  }

  int before;  ///< keys before the first vector
  int count;
  int behind;  ///< the first key behind the last vector
  const uint4* eights;
};

/// Visits the keys of one thread of the grid, eight at a time: `many(keys)` gets them as four words with two keys each,
/// `one(key)` gets the keys that are in no vector.
template <typename Many, typename One>
__device__ void for_each_key(const uint16_t* keys, int n, Many many, One one) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int threads = gridDim.x * blockDim.x;
  const KeyVectors vectors(keys, n);
  for (int i = thread; i < vectors.count; i += threads) many(vectors.eights[i]);
  if (thread < vectors.before) one(keys[thread]);
  if (thread < n - vectors.behind) one(keys[vectors.behind + thread]);
}

/// Visits the keys of one thread, eight at a time, with `many(keys, has_keys)`, which all lanes of a warp call together
/// as long as one of them has keys.
template <typename Many, typename One>
__device__ void for_each_key_by_warps(const uint16_t* keys, int n, Many many, One one) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int threads = gridDim.x * blockDim.x;
  const KeyVectors vectors(keys, n);
  for (int first = thread - thread % 32; first < vectors.count; first += threads) {
    const int i = first + thread % 32;
    const bool has_keys = i < vectors.count;
    many(has_keys ? vectors.eights[i] : uint4{}, has_keys);
  }
  if (thread < vectors.before) one(keys[thread]);
  if (thread < n - vectors.behind) one(keys[vectors.behind + thread]);
}

/// Calls one(key) for each of the eight keys.
template <typename One>
__device__ void for_each_of(const uint4& keys, One one) {
  const unsigned words[4] = {keys.x, keys.y, keys.z, keys.w};
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    one(words[word] & 0xffff);
    one(words[word] >> 16);
  }
}
