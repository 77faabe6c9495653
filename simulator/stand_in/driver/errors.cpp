// Names and texts of the driver's errors, and the answer to calls that are not supported. The texts are the runtime's
// where both have the error.
#include <algorithm>
#include <array>

#include "simulator/stand_in/driver/answer.hpp"

namespace {

struct ErrorName {
  CUresult status;
  const char* name;
};

constexpr std::array kNames = {
#define CONVLADDER_ERROR(name) ErrorName{name, #name},
#include "driver_errors.inc"
#undef CONVLADDER_ERROR
};

const char* name_of(CUresult status) {
  const auto found = std::ranges::find(kNames, status, &ErrorName::status);
  return found == kNames.end() ? nullptr : found->name;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): `answer` catches all of them
int convladder::stand_in::refuse_driver_call(const char* name) noexcept {
  return answer_driver(name, Needs::nothing, [name](Machine& machine) {
    machine.report.not_supported(name);
    throw Failure(kNotSupported);
  });
}

extern "C" {

CUresult cuGetErrorName(CUresult status, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = name_of(status);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult status, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool is_known = name_of(status) != nullptr;
  if (status == CUDA_ERROR_CONTEXT_ALREADY_CURRENT) {
    *text = "context is already current";
    return CUDA_SUCCESS;
  }
  if (status == CUDA_ERROR_KEY_ROTATION) {
    *text = "confidential computing key rotation";
    return CUDA_SUCCESS;
  }
  *text = is_known ? cudaGetErrorString(static_cast<cudaError_t>(status)) : nullptr;
  return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
