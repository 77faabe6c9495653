#include "variants/convolution/fused/cuda/window_tiling.hpp"

#include <fmt/format.h>

namespace convladder {

ConvShape covered_convolution(const FusedShape& shape) {
  ConvShape convolution = shape.convolution;
  convolution.height -= (convolution.out_height() - shape.pooled_height() * shape.pool_size) * convolution.stride;
  convolution.width -= (convolution.out_width() - shape.pooled_width() * shape.pool_size) * convolution.stride;
  return convolution;
}

std::string window_error(const FusedShape& shape, bool compiled) {
  const int size = shape.pool_size;
  const int stride = shape.pool_stride;
  if (size > stride) {
    return fmt::format("windows of pooling {}/{} overlap: they would need sums of other threads", size, stride);
  }
  if (size < stride) return fmt::format("windows of pooling {}/{} leave pixels between them", size, stride);
  return compiled ? "" : fmt::format("pooling {}/{} is not among the compiled ones", size, stride);
}

}  // namespace convladder
