// Pooling windows that belong to one thread's tile: the host's side of their launch, without a device.
#pragma once

#include <string>

#include "variants/convolution/fused/fused_shape.hpp"

namespace convladder {

/// The convolution of the pixels that windows cover, for windows that touch and do not overlap; its padding at the
/// bottom and on the right has no meaning.
ConvShape covered_convolution(const FusedShape& shape);

/// Empty if the windows touch and do not overlap and `compiled` says that there are kernels of their size, otherwise
/// why not, in one line.
std::string window_error(const FusedShape& shape, bool compiled);

}  // namespace convladder
