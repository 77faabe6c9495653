// What the CUDA stages share: memory that they keep between calls.
#pragma once

#include <cstddef>

/// Device memory that is kept from call to call, as a library keeps what it planned: allocating it takes longer than a
/// small scan. It holds what the last call left. Null where there is not so much; CUDA then remembers the error.
template <typename T>
T* kept_memory(std::size_t count) {
  static T* memory = nullptr;
  static std::size_t held = 0;
  if (count > held) {
    cudaFree(memory);  // waits until nobody uses it
    memory = nullptr;
    held = cudaMalloc(&memory, count * sizeof(T)) == cudaSuccess ? count : 0;
  }
  return memory;
}

/// Rounded up.
inline int quotient(int numerator, int denominator) { return (numerator - 1) / denominator + 1; }
