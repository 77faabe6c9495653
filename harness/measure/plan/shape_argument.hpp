// A layer shape as typed on the command line.
#pragma once

#include <string>

#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// "C,H,W,M,K[,stride[,padding]]" with batch 1. Throws UserError for other text and for shapes that cannot be.
ConvShape parse_shape(const std::string& text);

}  // namespace convladder
