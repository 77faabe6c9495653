// Copies from global to shared memory that bypass the registers (cp.async, compute capability 8.0), for .cu files.
//
// A copy is under way when the function returns. `commit_copies` closes a group of them; what a thread copied is in
// shared memory after `wait_for_copies<n>` if at most the last n groups are younger. Other threads see it after a
// barrier.
#pragma once

namespace convladder {

/// Copies 4 bytes, or puts zeros in their place. `from` is a valid address in both cases.
__device__ __forceinline__ void copy_float_async(float* to, const float* from, bool exists) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int bytes = exists ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
}

/// Copies a vector of 8 or 16 bytes between addresses that are multiples of its size; 16 bytes bypass the L1.
template <typename Vector>
__device__ __forceinline__ void copy_vector_async(float* to, const float* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (sizeof(Vector) == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
  } else {
    static_assert(sizeof(Vector) == 8);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(from) : "memory");
  }
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int groups>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

}  // namespace convladder
