// CUDA C++ for clang without the CUDA toolkit: what nvcc declares before the first line of a .cu file, as far as
// kernels here use it. Passed with -include, so that a kernel's source knows nothing of it; only clang reads it.
//
// The functions are those of the CUDA C++ programming guide ("C++ Language Extensions"); clang turns the builtins in
// their bodies into single PTX instructions.
#pragma once

// NOLINTBEGIN: the names are CUDA's
#include <cmath>
#include <cstddef>
#include <cstdlib>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))

// --- types -----------------------------------------------------------------------------------------------

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

struct __attribute__((aligned(8))) float2 {
  float x, y;
};
struct __attribute__((aligned(16))) float4 {
  float x, y, z, w;
};
struct __attribute__((aligned(8))) int2 {
  int x, y;
};
struct __attribute__((aligned(16))) int4 {
  int x, y, z, w;
};
__host__ __device__ inline float2 make_float2(float x, float y) { return {x, y}; }
__host__ __device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
__host__ __device__ inline int2 make_int2(int x, int y) { return {x, y}; }
__host__ __device__ inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

// --- built-in variables ----------------------------------------------------------------------------------

#include <__clang_cuda_builtin_vars.h>  // threadIdx, blockIdx, blockDim, gridDim, warpSize

// --- functions -------------------------------------------------------------------------------------------
// __syncthreads() is a builtin of clang.

__host__ __device__ inline int min(int a, int b) { return b < a ? b : a; }
__host__ __device__ inline int max(int a, int b) { return a < b ? b : a; }
__host__ __device__ inline unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
__host__ __device__ inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
__host__ __device__ inline long long min(long long a, long long b) { return b < a ? b : a; }
__host__ __device__ inline long long max(long long a, long long b) { return a < b ? b : a; }
__host__ __device__ inline float min(float a, float b) { return __builtin_fminf(a, b); }
__host__ __device__ inline float max(float a, float b) { return __builtin_fmaxf(a, b); }

#ifdef __CUDA_ARCH__
// Without debug information: an instruction then counts as being where the kernel calls the intrinsic.
#define CONVLADDER_INTRINSIC __device__ inline __attribute__((always_inline, nodebug))
CONVLADDER_INTRINSIC void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
CONVLADDER_INTRINSIC float __ldg(const float* address) { return __nvvm_ldg_f(address); }
CONVLADDER_INTRINSIC unsigned __float_as_uint(float value) { return __builtin_bit_cast(unsigned, value); }
CONVLADDER_INTRINSIC float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
// Shared addresses have an address space of their own, in which they begin at 0.
CONVLADDER_INTRINSIC std::size_t __cvta_generic_to_shared(const void* address) {
  return reinterpret_cast<std::size_t>((const __attribute__((address_space(3))) void*)address);
}

// Streaming stores: their data is the first to leave the caches, since nobody reads it soon.
CONVLADDER_INTRINSIC void __stcs(float* address, float value) {
  asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
}
CONVLADDER_INTRINSIC void __stcs(float2* address, float2 value) {
  asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};" ::"l"(address), "f"(value.x), "f"(value.y) : "memory");
}
CONVLADDER_INTRINSIC void __stcs(float4* address, float4 value) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address), "f"(value.x), "f"(value.y), "f"(value.z),
               "f"(value.w)
               : "memory");
}
CONVLADDER_INTRINSIC int __ldg(const int* address) { return __nvvm_ldg_i(address); }

// The last operand of the builtins says how far a segment of `width` lanes reaches (PTX ISA, shfl.sync).
CONVLADDER_INTRINSIC int __shfl_down_sync(unsigned mask, int value, unsigned delta, int width = 32) {
  return __nvvm_shfl_sync_down_i32(mask, value, delta, ((32 - width) << 8) | 31);
}
CONVLADDER_INTRINSIC float __shfl_down_sync(unsigned mask, float value, unsigned delta, int width = 32) {
  return __nvvm_shfl_sync_down_f32(mask, value, delta, ((32 - width) << 8) | 31);
}
CONVLADDER_INTRINSIC int __shfl_up_sync(unsigned mask, int value, unsigned delta, int width = 32) {
  return __nvvm_shfl_sync_up_i32(mask, value, delta, (32 - width) << 8);
}
CONVLADDER_INTRINSIC float __shfl_up_sync(unsigned mask, float value, unsigned delta, int width = 32) {
  return __nvvm_shfl_sync_up_f32(mask, value, delta, (32 - width) << 8);
}
CONVLADDER_INTRINSIC int __shfl_xor_sync(unsigned mask, int value, int lane_mask, int width = 32) {
  return __nvvm_shfl_sync_bfly_i32(mask, value, lane_mask, ((32 - width) << 8) | 31);
}
CONVLADDER_INTRINSIC float __shfl_xor_sync(unsigned mask, float value, int lane_mask, int width = 32) {
  return __nvvm_shfl_sync_bfly_f32(mask, value, lane_mask, ((32 - width) << 8) | 31);
}
CONVLADDER_INTRINSIC int __shfl_sync(unsigned mask, int value, int lane, int width = 32) {
  return __nvvm_shfl_sync_idx_i32(mask, value, lane, ((32 - width) << 8) | 31);
}
CONVLADDER_INTRINSIC float __shfl_sync(unsigned mask, float value, int lane, int width = 32) {
  return __nvvm_shfl_sync_idx_f32(mask, value, lane, ((32 - width) << 8) | 31);
}

CONVLADDER_INTRINSIC int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
CONVLADDER_INTRINSIC int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
CONVLADDER_INTRINSIC unsigned __ballot_sync(unsigned mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}

CONVLADDER_INTRINSIC int atomicAdd(int* address, int value) { return __nvvm_atom_add_gen_i(address, value); }
CONVLADDER_INTRINSIC unsigned atomicAdd(unsigned* address, unsigned value) {
  return __nvvm_atom_add_gen_i(reinterpret_cast<int*>(address), static_cast<int>(value));
}
CONVLADDER_INTRINSIC float atomicAdd(float* address, float value) { return __nvvm_atom_add_gen_f(address, value); }
#undef CONVLADDER_INTRINSIC
#else
// The host's side of a kernel is compiled to a stub, its body is only read: these are declared, and nothing calls them.
__device__ void __syncwarp(unsigned mask = 0xffffffff);
template <typename T>
__device__ T __ldg(const T* address);
template <typename T>
__device__ void __stcs(T* address, T value);
__device__ unsigned __float_as_uint(float value);
__device__ float __uint_as_float(unsigned bits);
__device__ std::size_t __cvta_generic_to_shared(const void* address);
template <typename T>
__device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <typename T>
__device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <typename T>
__device__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32);
template <typename T>
__device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
__device__ int __any_sync(unsigned mask, int predicate);
__device__ int __all_sync(unsigned mask, int predicate);
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
__device__ int atomicAdd(int* address, int value);
__device__ unsigned atomicAdd(unsigned* address, unsigned value);
__device__ float atomicAdd(float* address, float value);
#endif

// --- the host's side -------------------------------------------------------------------------------------

// Functions that clang's stub of a kernel refers to: devices/cuda_without_toolkit/kernel_registration.cpp.

struct CUstream_st;
using cudaStream_t = CUstream_st*;
enum cudaError_t { cudaSuccess = 0 };
extern "C" cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream);
// NOLINTEND
