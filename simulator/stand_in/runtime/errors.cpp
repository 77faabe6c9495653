// Names and texts of errors for programs, and the answer to calls that are not supported.
#include <string_view>

#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

extern "C" {

const char* cudaGetErrorName(cudaError_t status) {
  const std::string_view name = status_name(status);
  return name.empty() ? "unrecognized error code" : name.data();
}

const char* cudaGetErrorString(cudaError_t status) {
  const std::string_view text = status_text(status);
  return text.empty() ? "unrecognized error code" : text.data();
}

cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetLastError() {
  const cudaError_t status = last_error;
  last_error = is_sticky(static_cast<Status>(status)) ? status : cudaSuccess;
  return status;
}

/// Answers unsupported calls, for code that does not know their parameters; the report names the call.
int convladder_stand_in_refuse(const char* name) noexcept {
  return answer(name, [name](Machine& machine) {
    machine.report.not_supported(asked_by == nullptr ? name : asked_by);
    throw Failure(kNotSupported);
  });
}

}  // extern "C"
