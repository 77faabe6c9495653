// The answer to what is not supported, for code that knows no parameters.
#pragma once

namespace convladder::stand_in {

/// cudaErrorNotSupported; the report names the call.
int refuse_runtime_call(const char* name) noexcept;

}  // namespace convladder::stand_in
