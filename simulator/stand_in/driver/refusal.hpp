// The answer to unsupported calls, for code that does not know their parameters.
#pragma once

namespace convladder::stand_in {

/// Answers CUDA_ERROR_NOT_SUPPORTED; the report names the call.
int refuse_driver_call(const char* name) noexcept;

}  // namespace convladder::stand_in
