// Memory that the CUDA stages keep between calls.
#pragma once

#include <cstddef>

/// Device memory that is kept from call to call, as a library keeps its plans: allocating it takes longer than a small
/// scan. It still holds the data of the last call. Null if there is not enough memory; CUDA then remembers the error.
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

/// The quotient, rounded up.
inline int quotient(int numerator, int denominator) { return (numerator - 1) / denominator + 1; }
