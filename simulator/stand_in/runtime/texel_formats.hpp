// Converts the runtime API's description of a channel to the simulated device's.
#pragma once

#include "simulator/stand_in/arrays.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

namespace convladder::stand_in {

/// Throws Failure for channels that CUDA does not have, and for those of compressed images.
simulated::TexelFormat format_of(const cudaChannelFormatDesc& description);
cudaChannelFormatDesc description_of(const simulated::TexelFormat& format);

}  // namespace convladder::stand_in
