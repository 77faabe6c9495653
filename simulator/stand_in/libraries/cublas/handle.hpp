// cuBLAS's handle, and the frame of its functions.
#pragma once

#include <cublas_api.h>

#include "simulator/stand_in/libraries/answer.hpp"

/// The program's handle points to it.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  int multiprocessors = 0;
#if CUBLAS_VERSION >= 130100
  // How products of wider numbers may be made from narrower ones. Here they are computed as they are.
  cublasEmulationStrategy_t emulation = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  cudaEmulationSpecialValuesSupport special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  cudaEmulationMantissaControl mantissa_control = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  int most_mantissa_bits = 0;
  int mantissa_offset = 0;
#endif
};

namespace convladder::stand_in {

extern const LibraryInfo kCublas;

/// Whether it is one of cublasCreate's that lives. Throws Refused otherwise.
cublasContext& living(cublasHandle_t handle);

/// Throws Refused(CUBLAS_STATUS_INVALID_VALUE) with the reason unless it holds.
void require(bool holds, const char* why);

/// Runs `work(call, handle)`.
template <typename Work>
cublasStatus_t answer(const char* name, cublasHandle_t handle, const Work& work) noexcept {
  return answer_call<cublasStatus_t>(kCublas, name, [&](LibraryCall& call) { work(call, living(handle)); });
}

}  // namespace convladder::stand_in
