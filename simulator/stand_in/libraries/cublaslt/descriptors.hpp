// The descriptors of cuBLASLt, in the programs' opaque structures: a program may have them on its stack and copy them.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "simulator/stand_in/libraries/answer.hpp"

namespace convladder::stand_in {

extern const LibraryInfo kCublasLt;

/// Throws Refused(CUBLAS_STATUS_INVALID_VALUE) with the reason unless it holds.
void require(bool holds, const char* why);
/// Throws Refused(CUBLAS_STATUS_NOT_SUPPORTED) with the reason unless it holds.
void require_supported(bool holds, const char* why);

struct Layout {
  std::int32_t type = CUDA_R_32F;
  std::int32_t order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int32_t batch_mode = 0;
  std::int64_t stride = 0;
  std::int64_t plane_offset = 0;
};

struct MatmulSettings {
  std::int32_t compute = CUBLAS_COMPUTE_32F;
  std::int32_t scale = CUDA_R_32F;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t of_a = CUBLAS_OP_N;
  std::int32_t of_b = CUBLAS_OP_N;
  std::int32_t of_c = CUBLAS_OP_N;
  std::int32_t part = CUBLAS_FILL_MODE_FULL;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;
  std::int64_t aux_leading = 0;
  std::int64_t aux_stride = 0;
  std::int64_t alpha_stride = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t bias_type = -1;
  const void* a_scale = nullptr;
  const void* b_scale = nullptr;
  const void* c_scale = nullptr;
  const void* d_scale = nullptr;
  void* d_largest = nullptr;
  std::int32_t aux_type = -1;
  std::int32_t scale_modes = 0;  ///< 0: all scales are single numbers
  const void* aux_scale = nullptr;
  void* aux_largest = nullptr;
  std::int8_t fast_sums = 0;
};

struct TransformSettings {
  std::int32_t scale = CUDA_R_32F;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t of_a = CUBLAS_OP_N;
  std::int32_t of_b = CUBLAS_OP_N;
};

/// The algorithm's and the preferences' settings are kept, and change nothing: there is one way to compute.
struct KeptSettings {
  std::uint32_t small[15] = {};
};

/// The descriptor that lies in the program's structure.
template <typename Own, typename Opaque>
Own& in(Opaque* opaque) {
  static_assert(sizeof(Own) <= sizeof(Opaque));
  require(opaque != nullptr, "a descriptor is null");
  return *reinterpret_cast<Own*>(opaque);
}

}  // namespace convladder::stand_in
