// cuSOLVER's handle for dense matrices, and the frame of its functions.
#pragma once

#include <cusolverDn.h>

#include <cstdint>

#include "simulator/stand_in/libraries/answer.hpp"

/// The program's handle points to it.
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t mode = CUSOLVER_DETERMINISTIC_RESULTS;
};

namespace convladder::stand_in {

extern const LibraryInfo kCusolver;

/// Throws Refused for a handle that does not live.
cusolverDnContext& living(cusolverDnHandle_t handle);

/// Throws Refused(CUSOLVER_STATUS_INVALID_VALUE) with the reason unless it holds.
void require(bool holds, const char* why);

/// Runs `work(call, handle)`.
template <typename Work>
cusolverStatus_t answer(const char* name, cusolverDnHandle_t handle, const Work& work) noexcept {
  return answer_call<cusolverStatus_t>(kCusolver, name, [&](LibraryCall& call) { work(call, living(handle)); });
}

}  // namespace convladder::stand_in
