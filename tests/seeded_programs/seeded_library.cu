#include "seeded_library.hpp"

namespace seeded_library {
namespace {

__global__ void write(float* to) {
  to[threadIdx.x] = 1;  // faulty: in_library
}

}  // namespace

float* allocate(std::size_t bytes) {
  float* memory = nullptr;
  cudaMalloc(&memory, bytes);  // allocates: of_library
  return memory;
}

void run() {
  float* memory = nullptr;
  cudaMalloc(&memory, 64 * sizeof(float));  // allocates: in_library
  write<<<1, 65>>>(memory);                 // launches: in_library
}

}  // namespace seeded_library
