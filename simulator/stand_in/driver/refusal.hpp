// The answer to what is not supported, for code that knows no parameters.
#pragma once

namespace convladder::stand_in {

/// CUDA_ERROR_NOT_SUPPORTED; the report names the call.
int refuse_driver_call(const char* name) noexcept;

}  // namespace convladder::stand_in
