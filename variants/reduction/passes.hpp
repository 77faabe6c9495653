// Memory between launches, and launches until one sum is left. The CUDA stages share them.
#pragma once

#include <cstddef>

/// Device memory that is kept from call to call, as a library keeps its plans: allocating it takes longer than a small
/// sum. It still holds the data of the last call. Null if there is not enough memory; CUDA then remembers the error.
inline float* kept_floats(std::size_t count) {
  static float* memory = nullptr;
  static std::size_t held = 0;
  if (count > held) {
    cudaFree(memory);  // waits until nobody uses it
    memory = nullptr;
    held = cudaMalloc(&memory, count * sizeof(float)) == cudaSuccess ? count : 0;
  }
  return memory;
}

/// The quotient, rounded up.
inline int quotient(int numerator, int denominator) { return (numerator - 1) / denominator + 1; }

/// Sums n numbers in passes: each leaves one sum for each block, and the next pass adds these up. A pass over n numbers
/// has `blocks_of(n)` blocks, fewer than n; `launch(from, to, n, blocks)` starts it.
template <typename BlocksOf, typename Launch>
void sum_in_passes(const float* x, float* y, int n, BlocksOf blocks_of, Launch launch) {
  const int first = blocks_of(n);
  if (first == 1) return launch(x, y, n, 1);
  // Two places take turns: a block may finish before another one has read its input.
  float* to = kept_floats(static_cast<std::size_t>(first) + static_cast<std::size_t>(blocks_of(first)));
  if (to == nullptr) return;
  float* other = to + first;
  const float* from = x;
  for (int blocks = first; blocks > 1; blocks = blocks_of(n)) {
    launch(from, to, n, blocks);
    from = to;
    to = other;
    other = const_cast<float*>(from);
    n = blocks;
  }
  launch(from, y, n, 1);
}
