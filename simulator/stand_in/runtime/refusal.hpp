// The answer to unsupported calls, for code that does not know their parameters.
#pragma once

namespace convladder::stand_in {

/// Answers cudaErrorNotSupported; the report names the call.
int refuse_runtime_call(const char* name) noexcept;

}  // namespace convladder::stand_in
